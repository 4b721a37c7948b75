"""Tables and columns for the dashboard: lists of sessions, counts, labels, logins."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Add columns and tables, and count what is there already."""
    _add(
        "sessions",
        sa.Column("surface", _TEXT),
        sa.Column("agent", _TEXT),
        sa.Column("tasks", _TEXT, nullable=False, server_default="[]"),
        _count("messages"),
        _count("blocked"),
        _count("escalated"),
        sa.Column("last_action", _TEXT),
        sa.Column("last_at", _TIME),
    )
    _add(
        "records",
        sa.Column("tools", _TEXT, nullable=False, server_default="[]"),
        _count("llm_calls"),
        _count("llm_tokens"),
        sa.Column("agent", _TEXT),
    )
    _index("records", "in_order", "tenant", "session", "number", "id")
    _index("approvals", "of_session", "tenant", "session", "created_at", "id")
    _count_sessions()
    op.create_table(
        "taskshield_labels",
        sa.Column("tenant", _TEXT, primary_key=True),
        sa.Column("decision", _TEXT, primary_key=True),
        sa.Column("label", _TEXT, nullable=False),
        sa.Column("note", _TEXT, nullable=False),
        sa.Column("by", _TEXT, nullable=False),
        sa.Column("at", _TIME, nullable=False),
    )
    _index("labels", "newest", "tenant", "at", "decision")
    op.create_table(
        "taskshield_logins",
        sa.Column("id", _TEXT, primary_key=True),
        sa.Column("key", _TEXT, nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("expires_at", _TIME, nullable=False),
    )
    _index("logins", "expiring", "expires_at")


def _add(table: str, *columns: sa.Column[Any]) -> None:
    for column in columns:
        op.add_column(f"taskshield_{table}", column)


def _count(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False, server_default="0")


def _index(table: str, name: str, *columns: str) -> None:
    op.create_index(f"taskshield_{table}_{name}", f"taskshield_{table}", list(columns))


def _count_sessions() -> None:
    """Fill the new columns of sessions from their records; tasks follow with the next message."""
    own = "r.tenant = taskshield_sessions.tenant AND r.session = taskshield_sessions.id"
    counted = f"SELECT count(*) FROM taskshield_records r WHERE {own}"
    newest = f"FROM taskshield_records r WHERE {own} ORDER BY r.at DESC, r.number DESC LIMIT 1"
    op.execute(
        "UPDATE taskshield_sessions SET"
        f" messages = ({counted}),"
        f" blocked = ({counted} AND r.action IN ('block', 'revise')),"
        f" escalated = ({counted} AND r.action = 'escalate'),"
        f" surface = (SELECT r.surface {newest}),"
        f" last_action = (SELECT r.action {newest}),"
        f" last_at = (SELECT r.at {newest})"
    )
