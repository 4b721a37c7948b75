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
        "Grant it: GRANT CREATE, USAGE ON SCHEMA public TO the user.",
    ),
    "53": ("it is out of space, memory or connections", "Free them, or raise max_connections."),
    "57": ("it is starting or stopping", "Wait a moment, then run this again."),
}
_FACTS = """
    SELECT now() AS now,
           pg_is_in_recovery() OR current_setting('default_transaction_read_only')::bool AS fixed,
           has_schema_privilege(current_schema(), 'CREATE') AS may_create,
           current_schema() AS schema,
           EXISTS (SELECT FROM pg_tables WHERE schemaname = current_schema()) AS others,
           to_regclass('taskshield_version') IS NOT NULL AS noted
"""
_CONTENT = """
    SELECT (SELECT max(version_num) FROM taskshield_version) AS level,
           (SELECT max(at) FROM taskshield_records) AS newest,
           (SELECT count(*) FROM taskshield_keys) AS keys,
           has_table_privilege('taskshield_records', 'INSERT, DELETE') AS may_write
"""


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
            facts = await connection.fetchrow(_FACTS)
            content = await connection.fetchrow(_CONTENT) if facts["noted"] else None
    except (asyncpg.PostgresError, TimeoutError) as error:
        return _refused(error)
    finally:
        with suppress(Exception):
            await connection.close(timeout=_PATIENCE_S)
    return _found(facts, content)


def _found(facts: Any, content: Any) -> StoreFacts:
    level = None if content is None else content["level"]
    findings = list(check_level(level, facts["others"]))
    if facts["fixed"]:
        findings.insert(
            0,
            failed(
                CHECK,
                "Postgres: the database is read-only.",
                "Name the primary in server.store, not a replica, or end its read-only mode.",
            ),
        )
    elif not (facts["may_create"] if content is None else content["may_write"]):
        findings.insert(0, failed(CHECK, f"Postgres: {_KNOWN['42501'][0]}.", _KNOWN["42501"][1]))
    if all(each.state != "failed" for each in findings):
        good = ok(CHECK, f"The Postgres database can be read and written (version {level}).")
        findings = [good, *(each for each in findings if each.state != "ok")]
    return StoreFacts(
        findings=tuple(findings),
        now=facts["now"],
        newest=None if content is None else content["newest"],
        keys=0 if content is None else content["keys"],
    )


def _refused(error: Exception) -> StoreFacts:
    code = getattr(error, "sqlstate", None)
    why, advice = advice_for(str(code or type(error).__name__), _KNOWN)
    return _failed(why, advice)


def _failed(what: str, advice: str) -> StoreFacts:
    return StoreFacts(findings=(failed(CHECK, f"Postgres: {what}.", advice),))
