"""A table for the parts of sessions. Sessions themselves are moved by `stores.sql.upgrade`."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "taskshield_parts",
        sa.Column("tenant", _TEXT, primary_key=True),
        sa.Column("session", _TEXT, primary_key=True),
        sa.Column("kind", _TEXT, primary_key=True),
        sa.Column("position", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("text", _TEXT, nullable=False),
    )
