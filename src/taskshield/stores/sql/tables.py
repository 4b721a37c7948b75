"""The tables in their newest version; `migrations` holds the steps that make them.

Columns are named like the fields of the values in `core.store`, so that a row is a value.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import BigInteger, Column, Float, Index, MetaData, Table

from taskshield.stores.sql.columns import AnyText, ScopeNames, TierName, UtcTime, Words

METADATA = MetaData()
VERSION_TABLE = "taskshield_version"
"""Where Alembic notes how far the migrations have come."""
VERSION = "0003"
"""The last step of the migrations, which made the tables what they are here."""
WITHOUT_PARTS = "0002"
"""The step before: the tables of release 0.1.0, which have no parts. A store keeps them until
`taskshield db upgrade`, so that servers of both releases can share it."""

SESSIONS = Table(
    "taskshield_sessions",
    METADATA,
    Column("tenant", AnyText, primary_key=True),
    Column("id", AnyText, primary_key=True),
    Column("version", BigInteger, nullable=False),
    Column("state", AnyText),
    Column("created_at", UtcTime, nullable=False),
    Column("updated_at", UtcTime, nullable=False),
    Column("surface", AnyText),
    Column("agent", AnyText),
    Column("tasks", Words, nullable=False),
    Column("messages", BigInteger, nullable=False),
    Column("blocked", BigInteger, nullable=False),
    Column("escalated", BigInteger, nullable=False),
    Column("last_action", AnyText),
    Column("last_at", UtcTime),
    Index("taskshield_sessions_newest", "tenant", "updated_at", "id"),
)

PARTS = Table(
    "taskshield_parts",
    METADATA,
    Column("tenant", AnyText, primary_key=True),
    Column("session", AnyText, primary_key=True),
    Column("kind", AnyText, primary_key=True),
    Column("position", BigInteger, primary_key=True, autoincrement=False),
    Column("text", AnyText, nullable=False),
)

RECORDS = Table(
    "taskshield_records",
    METADATA,
    Column("tenant", AnyText, primary_key=True),
    Column("id", AnyText, primary_key=True),
    Column("session", AnyText, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("surface", AnyText, nullable=False),
    Column("level", AnyText, nullable=False),
    Column("action", AnyText, nullable=False),
    Column("check", AnyText, nullable=False),
    Column("tier", TierName),
    Column("judge", AnyText, nullable=False),
    Column("elapsed_ms", Float(53), nullable=False),
    Column("summary", AnyText, nullable=False),
    Column("case", AnyText),
    Column("digest", AnyText, nullable=False),
    # The databases' own ideas of upper and lower case differ, so words are sought in here.
    Column("folded", AnyText, nullable=False),
    Column("tools", Words, nullable=False),
    Column("llm_calls", BigInteger, nullable=False),
    Column("llm_tokens", BigInteger, nullable=False),
    Column("agent", AnyText),
    Index("taskshield_records_newest", "tenant", "at", "number", "id"),
    Index("taskshield_records_of_session", "tenant", "session", "at", "number", "id"),
    Index("taskshield_records_in_order", "tenant", "session", "number", "id"),
)

APPROVALS = Table(
    "taskshield_approvals",
    METADATA,
    Column("tenant", AnyText, primary_key=True),
    Column("id", AnyText, primary_key=True),
    Column("session", AnyText, nullable=False),
    Column("decision", AnyText, nullable=False),
    Column("summary", AnyText, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("deadline", UtcTime, nullable=False),
    Column("status", AnyText, nullable=False),
    Column("decided_at", UtcTime),
    Column("decided_by", AnyText),
    Column("note", AnyText, nullable=False),
    Index("taskshield_approvals_newest", "tenant", "created_at", "id"),
    Index("taskshield_approvals_of_session", "tenant", "session", "created_at", "id"),
)

ALIASES = Table(
    "taskshield_aliases",
    METADATA,
    Column("tenant", AnyText, primary_key=True),
    Column("alias", AnyText, primary_key=True),
    Column("session", AnyText, nullable=False),
    Column("at", UtcTime, nullable=False),
    Index("taskshield_aliases_newest", "tenant", "at", "alias"),
)

KEYS = Table(
    "taskshield_keys",
    METADATA,
    Column("id", AnyText, primary_key=True),
    Column("tenant", AnyText, nullable=False),
    Column("name", AnyText, nullable=False),
    Column("hash", AnyText, nullable=False, unique=True),
    Column("scopes", ScopeNames, nullable=False),
    Column("per_minute", BigInteger),
    Column("created_at", UtcTime, nullable=False),
    Column("expires_at", UtcTime),
    Column("revoked_at", UtcTime),
)

LABELS = Table(
    "taskshield_labels",
    METADATA,
    Column("tenant", AnyText, primary_key=True),
    Column("decision", AnyText, primary_key=True),
    Column("label", AnyText, nullable=False),
    Column("note", AnyText, nullable=False),
    Column("by", AnyText, nullable=False),
    Column("at", UtcTime, nullable=False),
    Index("taskshield_labels_newest", "tenant", "at", "decision"),
)

LOGINS = Table(
    "taskshield_logins",
    METADATA,
    Column("id", AnyText, primary_key=True),
    Column("key", AnyText, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("expires_at", UtcTime, nullable=False),
    Index("taskshield_logins_expiring", "expires_at"),
)

NEWEST: Mapping[Table, tuple[Column[Any], ...]] = {
    SESSIONS: (SESSIONS.c.updated_at, SESSIONS.c.id),
    RECORDS: (RECORDS.c.at, RECORDS.c.number, RECORDS.c.id),
    APPROVALS: (APPROVALS.c.created_at, APPROVALS.c.id),
    ALIASES: (ALIASES.c.at, ALIASES.c.alias),
    LABELS: (LABELS.c.at, LABELS.c.decision),
}
"""What grows without end, and what its rows are ordered by within a tenant."""
