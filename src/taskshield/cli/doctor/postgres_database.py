"""Looks at a store in a Postgres database, in a transaction that can only read."""

import asyncio
from contextlib import suppress
from typing import Any

from taskshield.cli.doctor.findings import failed, ok
from taskshield.cli.doctor.stores import CHECK, StoreFacts, advice_for, check_level

_PATIENCE_S = 5.0
_LOGIN = "Correct the user and the password in TASKSHIELD_SERVER__STORE."
_KNOWN = {
    "28": ("the server refuses the user or the password", _LOGIN),
    "3D": ("the database does not exist", "Create it (createdb NAME), or correct server.store."),
    "42P01": ("it lacks a table of taskshield", "Run: taskshield db check, or restore a backup"),
    "42501": (
        "the database user lacks a permission",
        "Grant it CREATE and USAGE on the schema, and SELECT, INSERT, UPDATE and DELETE on the"
        " tables of taskshield.",
    ),
    "53": ("it is out of space, memory or connections", "Free them, or raise max_connections."),
    "57": ("it is starting or stopping", "Wait a moment, then run this again."),
}
_FACTS = """
    SELECT now() AS now,
           pg_is_in_recovery() OR current_setting('default_transaction_read_only')::bool AS fixed,
           has_schema_privilege(current_schema(), 'CREATE') AS may_create,
           to_regclass('taskshield_version') IS NOT NULL AS noted
"""
_TABLES = """
    SELECT relname AS name,
           array_agg(attname::text) AS columns,
           has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
           AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE') AS usable
      FROM pg_class JOIN pg_attribute ON attrelid = oid AND attnum > 0 AND NOT attisdropped
     WHERE relkind IN ('r', 'p') AND pg_table_is_visible(oid)
           AND relnamespace <> 'pg_catalog'::regnamespace
     GROUP BY oid, relname
"""
_LEVEL = "SELECT max(version_num) FROM taskshield_version"
_NEWEST = "SELECT max(at) FROM taskshield_records"
_KEYS = "SELECT count(*) FROM taskshield_keys"


def examine_postgres(url: str) -> StoreFacts:
    """Look at a database. Its URL is not shown."""
    return asyncio.run(_examine(url))


async def _examine(url: str) -> StoreFacts:
    import asyncpg

    try:
        connection = await asyncpg.connect(url, timeout=_PATIENCE_S, command_timeout=_PATIENCE_S)
    except ValueError:
        return _failed(
            "server.store is not a valid Postgres URL", "Use postgresql://user@host/name."
        )
    except asyncpg.PostgresError as error:
        return _refused(error)
    except (OSError, asyncpg.InterfaceError) as error:
        return _failed(
            f"the database server is not reached ({type(error).__name__})",
            "Start Postgres, or correct the host and the port in TASKSHIELD_SERVER__STORE.",
        )
    try:
        async with connection.transaction(readonly=True):
            return await _found(connection)
    except (asyncpg.PostgresError, TimeoutError) as error:
        return _refused(error)
    finally:
        with suppress(Exception):
            await connection.close(timeout=_PATIENCE_S)


async def _found(connection: Any) -> StoreFacts:
    facts = await connection.fetchrow(_FACTS)
    rows = await connection.fetch(_TABLES)
    tables = {row["name"]: set(row["columns"]) for row in rows}
    level = await connection.fetchval(_LEVEL) if facts["noted"] else None
    findings = list(check_level(level, tables))
    ours = [row for row in rows if row["name"].startswith("taskshield_")]
    if facts["fixed"]:
        findings.insert(
            0,
            failed(
                CHECK,
                "Postgres: the database is read-only.",
                "Name the primary in server.store, not a replica, or end its read-only mode.",
            ),
        )
    elif not (all(row["usable"] for row in ours) if ours else facts["may_create"]):
        findings.insert(0, failed(CHECK, f"Postgres: {_KNOWN['42501'][0]}.", _KNOWN["42501"][1]))
    if all(each.state != "failed" for each in findings):
        good = ok(CHECK, f"The Postgres database can be read and written (version {level}).")
        findings = [good, *(each for each in findings if each.state != "ok")]
    return StoreFacts(
        findings=tuple(findings),
        now=facts["now"],
        newest=await connection.fetchval(_NEWEST) if "taskshield_records" in tables else None,
        keys=await connection.fetchval(_KEYS) if "taskshield_keys" in tables else 0,
    )


def _refused(error: Exception) -> StoreFacts:
    code = getattr(error, "sqlstate", None)
    why, advice = advice_for(str(code or type(error).__name__), _KNOWN)
    return _failed(why, advice)


def _failed(what: str, advice: str) -> StoreFacts:
    return StoreFacts(findings=(failed(CHECK, f"Postgres: {what}.", advice),))
