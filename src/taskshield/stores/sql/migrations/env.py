"""Run by Alembic: applies the steps over the connection that `stores.migrating` hands over."""

from alembic import context

from taskshield.stores.sql.tables import METADATA, VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=VERSION_TABLE,
)
with context.begin_transaction():
    context.run_migrations()
