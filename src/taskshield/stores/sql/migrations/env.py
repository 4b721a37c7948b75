"""Run by Alembic: applies the migrations over the connection that `stores.sql.migrate` passes."""

from alembic import context

from taskshield.stores.sql.tables import METADATA, VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=VERSION_TABLE,
)
with context.begin_transaction():
    context.run_migrations()
