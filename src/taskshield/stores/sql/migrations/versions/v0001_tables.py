"""The first tables: sessions, records that cannot be changed, approvals, aliases, keys."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# Compared byte by byte, so that no upgrade of a system's locales can put an index out of order.
_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "taskshield_sessions",
        sa.Column("tenant", _TEXT, primary_key=True),
        sa.Column("id", _TEXT, primary_key=True),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("state", _TEXT),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("updated_at", _TIME, nullable=False),
    )
    _index("sessions", "newest", "tenant", "updated_at", "id")
    op.create_table(
        "taskshield_records",
        sa.Column("tenant", _TEXT, primary_key=True),
        sa.Column("id", _TEXT, primary_key=True),
        sa.Column("session", _TEXT, nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("at", _TIME, nullable=False),
        sa.Column("surface", _TEXT, nullable=False),
        sa.Column("level", _TEXT, nullable=False),
        sa.Column("action", _TEXT, nullable=False),
        sa.Column("check", _TEXT, nullable=False),
        sa.Column("tier", _TEXT),
        sa.Column("judge", _TEXT, nullable=False),
        sa.Column("elapsed_ms", sa.Float(53), nullable=False),
        sa.Column("summary", _TEXT, nullable=False),
        sa.Column("case", _TEXT),
        sa.Column("digest", _TEXT, nullable=False),
        sa.Column("folded", _TEXT, nullable=False),
    )
    _index("records", "newest", "tenant", "at", "number", "id")
    _index("records", "of_session", "tenant", "session", "at", "number", "id")
    _forbid_changes_of_records()
    op.create_table(
        "taskshield_approvals",
        sa.Column("tenant", _TEXT, primary_key=True),
        sa.Column("id", _TEXT, primary_key=True),
        sa.Column("session", _TEXT, nullable=False),
        sa.Column("decision", _TEXT, nullable=False),
        sa.Column("summary", _TEXT, nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("deadline", _TIME, nullable=False),
        sa.Column("status", _TEXT, nullable=False),
        sa.Column("decided_at", _TIME),
        sa.Column("decided_by", _TEXT),
        sa.Column("note", _TEXT, nullable=False),
    )
    _index("approvals", "newest", "tenant", "created_at", "id")
    op.create_table(
        "taskshield_aliases",
        sa.Column("tenant", _TEXT, primary_key=True),
        sa.Column("alias", _TEXT, primary_key=True),
        sa.Column("session", _TEXT, nullable=False),
        sa.Column("at", _TIME, nullable=False),
    )
    _index("aliases", "newest", "tenant", "at", "alias")
    op.create_table(
        "taskshield_keys",
        sa.Column("id", _TEXT, primary_key=True),
        sa.Column("tenant", _TEXT, nullable=False),
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("hash", _TEXT, nullable=False, unique=True),
        sa.Column("scopes", _TEXT, nullable=False),
        sa.Column("per_minute", sa.BigInteger),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("expires_at", _TIME),
        sa.Column("revoked_at", _TIME),
    )


def _index(table: str, name: str, *columns: str) -> None:
    op.create_index(f"taskshield_{table}_{name}", f"taskshield_{table}", list(columns))


def _forbid_changes_of_records() -> None:
    """Make updates of records fail. Records are added, and removed when they are too old."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "CREATE TRIGGER taskshield_records_stay BEFORE UPDATE ON taskshield_records"
            " BEGIN SELECT RAISE(ABORT, 'audit records cannot be changed'); END"
        )
        return
    op.execute(
        "CREATE FUNCTION taskshield_records_stay() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE EXCEPTION 'audit records cannot be changed'; END $$"
    )
    op.execute(
        "CREATE TRIGGER taskshield_records_stay BEFORE UPDATE ON taskshield_records"
        " FOR EACH ROW EXECUTE FUNCTION taskshield_records_stay()"
    )
