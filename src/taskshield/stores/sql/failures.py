"""Describes database errors without data and addresses, and says what to do about each.

The messages of SQLAlchemy and its drivers quote statements, values and hosts, so only their codes
are passed on.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from taskshield.core.errors import StoreError, StoreState

_OTHER_TABLES = "its tables are not those of this release of taskshield"
_DAMAGED_VALUE = "a value in it is damaged. Run: taskshield db check"
_ADVICE: Mapping[StoreState, str] = {
    "full": "Make room for it; the server continues by itself.",
    "read-only": "Make it writable for the server; the server continues by itself.",
    "locked": "Stop the other process, or wait for it; the server continues by itself.",
    "damaged": (
        "Stop the server. Restore a backup (taskshield db restore), or save what can be read"
        " (taskshield db repair)."
    ),
    "disk": "Look into the system's log, and copy the file to another disk.",
    "unreachable": "Start the database server, or repair the way to it; the server continues by"
    " itself.",
    "refused": "Correct the URL of the store, or grant its user what it lacks.",
    "connections": "Close other connections, or raise max_connections; the server continues by"
    " itself.",
    "tables": "Run taskshield db check. Restore a backup, or use another store.",
    "removed": "Put the file back or restore a backup, and restart the server.",
}
_SQLITE: Mapping[str, tuple[str, StoreState | None]] = {
    "SQLITE_BUSY": ("another process has locked the file", "locked"),
    "SQLITE_FULL": ("the disk is full", "full"),
    "SQLITE_READONLY_DBMOVED": ("its file was removed or replaced", "removed"),
    "SQLITE_READONLY": ("the file is read-only", "read-only"),
    "SQLITE_CANTOPEN": (
        "the file cannot be opened; its folder must exist and be writable",
        "read-only",
    ),
    "SQLITE_IOERR": ("the disk failed", "disk"),
    "SQLITE_NOTADB": ("the file is not a database", "damaged"),
    "SQLITE_CORRUPT": ("the file is damaged", "damaged"),
    "SQLITE_CONSTRAINT": ("it already holds this row", None),
    "SQLITE_ERROR": (_OTHER_TABLES, "tables"),
}
_POSTGRES: Mapping[str, tuple[str, StoreState | None]] = {
    "08": ("the connection was lost", "unreachable"),
    "23": ("it already holds this row", None),
    "25006": ("the database is read-only", "read-only"),
    "28": ("the server refused the user or the password", "refused"),
    "3D": ("the database does not exist", "refused"),
    "40": ("another write came in between", None),
    "42501": ("the database user lacks a permission", "refused"),
    "42703": (_OTHER_TABLES, "tables"),
    "42P01": (_OTHER_TABLES, "tables"),
    "53100": ("the disk of the database server is full", "full"),
    "53300": ("the server has no free connection", "connections"),
    "53": ("the server is out of memory or another resource", "connections"),
    "55P03": ("another session has locked its tables", "locked"),
    "57014": ("a statement was cancelled, or took too long", "locked"),
    "57": ("the server is shutting down or starting", "unreachable"),
    "58": ("the disk of the database server failed", "disk"),
    "XX001": ("its data is damaged", "damaged"),
    "XX002": ("an index is damaged", "damaged"),
}


class DamagedValue(Exception):
    """A value that its column cannot have. SQLite stores what it is given, and disks forget."""


@contextmanager
def explained() -> Iterator[None]:
    """Turn what databases raise into `StoreError`."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, OSError, DamagedValue) as error:
        # Not chained: a traceback would show the statement and its values.
        raise unusable(*_reason(error)) from None


def unusable(reason: str, state: StoreState | None) -> StoreError:
    """The error of a store that cannot be used."""
    advice = "" if state is None else f" {_ADVICE[state]}"
    return StoreError(f"The store cannot be used: {reason}.{advice}", state=state)


def leaves_file_sound(error: Exception) -> bool:
    """Whether a database failed for a reason that says nothing against its file."""
    return _reason(error)[1] in ("full", "read-only", "locked")


def postgres_failure(code: str) -> StoreError:
    """What an SQLSTATE means."""
    return unusable(*_postgres_reason(code))


def _postgres_reason(code: str) -> tuple[str, StoreState | None]:
    known = (found for key, found in _POSTGRES.items() if code.startswith(key))
    reason, state = next(known, ("it failed", None))
    return f"{reason} ({code})", state


def _reason(error: Exception) -> tuple[str, StoreState | None]:
    if isinstance(error, PoolTimeout):
        return "too many requests are waiting for a connection", "connections"
    if isinstance(error, DamagedValue):
        return _DAMAGED_VALUE, None
    if isinstance(error, OSError):  # from Postgres, which could not be reached
        kind = type(error).__name__
        return f"the database server cannot be reached ({kind})", "unreachable"
    origin = error.orig if isinstance(error, DBAPIError) else error
    name: str | None = getattr(origin, "sqlite_errorname", None)
    if name is not None:
        known = (found for key, found in _SQLITE.items() if name.startswith(key))
        reason, state = next(known, ("it failed", None))
        return f"{reason} ({name})", state
    code: str | None = getattr(origin, "sqlstate", None)
    if code is not None:
        return _postgres_reason(code)
    if isinstance(origin, sqlite3.OperationalError):  # only Python's driver gives no name
        return _DAMAGED_VALUE, None
    return f"it failed ({type(origin).__name__})", None
