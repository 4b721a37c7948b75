"""What went wrong in a database, in words that hold neither data nor addresses.

The messages of SQLAlchemy and its drivers quote statements, values and hosts, so nothing of them is
passed on but their codes.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from taskshield.core.errors import StoreError

_OTHER_TABLES = "its tables are not those of this release"
_SQLITE = {
    "SQLITE_BUSY": "another process holds it locked",
    "SQLITE_FULL": "the disk is full",
    "SQLITE_READONLY": "it is read-only",
    "SQLITE_CANTOPEN": "the file cannot be opened; its folder must exist and be writable",
    "SQLITE_IOERR": "the disk failed",
    "SQLITE_NOTADB": "the file is not a database",
    "SQLITE_CORRUPT": "the file is damaged",
    "SQLITE_CONSTRAINT": "it refused a row that it holds already",
    "SQLITE_ERROR": _OTHER_TABLES,
}
_POSTGRES = {
    "08": "the connection broke",
    "23": "it refused a row that it holds already",
    "25006": "it is read-only",
    "28": "it refused the login",
    "3D": "there is no such database",
    "40": "another write came in between",
    "42501": "the login may not do this",
    "42703": _OTHER_TABLES,
    "42P01": _OTHER_TABLES,
    "53": "it is out of space, memory or connections",
    "57": "it is shutting down or starting",
}


@contextmanager
def explained() -> Iterator[None]:
    """Turn what databases raise into `StoreError`."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, OSError) as error:
        # Not chained: a traceback would show the statement and its values.
        raise StoreError(f"the store cannot be used: {_reason(error)}") from None


def postgres_reason(code: str) -> str:
    """What an SQLSTATE means."""
    known = next((text for key, text in _POSTGRES.items() if code.startswith(key)), "it failed")
    return f"{known} ({code})"


def _reason(error: Exception) -> str:
    if isinstance(error, PoolTimeout):
        return "too many requests wait for it"
    if isinstance(error, OSError):  # from Postgres, which could not be reached
        return f"no connection ({type(error).__name__})"
    origin = error.orig if isinstance(error, DBAPIError) else error
    name = getattr(origin, "sqlite_errorname", None)
    if name is not None:
        known = next((text for key, text in _SQLITE.items() if name.startswith(key)), "it failed")
        return f"{known} ({name})"
    code = getattr(origin, "sqlstate", None)
    if code is not None:
        return postgres_reason(code)
    return f"it failed ({type(origin).__name__})"
