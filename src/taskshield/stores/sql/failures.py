"""Describes database errors without data and addresses.

The messages of SQLAlchemy and its drivers quote statements, values and hosts, so only their codes
are passed on.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from taskshield.core.errors import StoreError

_OTHER_TABLES = "its tables are not those of this release of taskshield"
_SQLITE = {
    "SQLITE_BUSY": "another process has locked the file",
    "SQLITE_FULL": "the disk is full",
    "SQLITE_READONLY": "the file is read-only",
    "SQLITE_CANTOPEN": "the file cannot be opened; its folder must exist and be writable",
    "SQLITE_IOERR": "the disk failed",
    "SQLITE_NOTADB": "the file is not a database",
    "SQLITE_CORRUPT": "the file is damaged",
    "SQLITE_CONSTRAINT": "it already holds this row",
    "SQLITE_ERROR": _OTHER_TABLES,
}
_POSTGRES = {
    "08": "the connection was lost",
    "23": "it already holds this row",
    "25006": "the database is read-only",
    "28": "the server refused the user or the password",
    "3D": "the database does not exist",
    "40": "another write came in between",
    "42501": "the database user lacks a permission",
    "42703": _OTHER_TABLES,
    "42P01": _OTHER_TABLES,
    "53": "the server is out of space, memory or connections",
    "57": "the server is shutting down or starting",
}


@contextmanager
def explained() -> Iterator[None]:
    """Turn what databases raise into `StoreError`."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, OSError) as error:
        # Not chained: a traceback would show the statement and its values.
        raise StoreError(f"The store cannot be used: {_reason(error)}.") from None


def postgres_reason(code: str) -> str:
    """What an SQLSTATE means."""
    known = next((text for key, text in _POSTGRES.items() if code.startswith(key)), "it failed")
    return f"{known} ({code})"


def _reason(error: Exception) -> str:
    if isinstance(error, PoolTimeout):
        return "too many requests are waiting for a connection"
    if isinstance(error, OSError):  # from Postgres, which could not be reached
        return f"the database server cannot be reached ({type(error).__name__})"
    origin = error.orig if isinstance(error, DBAPIError) else error
    name = getattr(origin, "sqlite_errorname", None)
    if name is not None:
        known = next((text for key, text in _SQLITE.items() if name.startswith(key)), "it failed")
        return f"{known} ({name})"
    code = getattr(origin, "sqlstate", None)
    if code is not None:
        return postgres_reason(code)
    return f"it failed ({type(origin).__name__})"
