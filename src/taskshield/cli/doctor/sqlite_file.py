"""Looks at a store in an SQLite file. It reads, and takes the lock of writers for a moment."""

import shutil
import sqlite3
from collections.abc import Container, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from taskshield.cli.doctor.findings import Finding, failed, ok
from taskshield.cli.doctor.stores import (
    CHECK,
    REPAIR,
    StoreFacts,
    advice_for,
    check_level,
    writable,
)

_LEAST_FREE = 100 * 1024 * 1024
"""Bytes on the disk below which a store may soon be full."""
_READ_WHOLE = 64 * 1024 * 1024
"""Files up to this size are read completely to find damage."""
_PATIENCE_S = 2.0
_RIGHTS = "Run this as the user that runs the server, or set server.store to a file of this user."
_KNOWN = {
    "SQLITE_BUSY": (
        "another process keeps it locked",
        "Find the process (on Linux: fuser FILE) and end it, then start the server.",
    ),
    "SQLITE_READONLY": (
        "it is read-only",
        "Make the file and its folder writable for this user: chmod u+w, or chown.",
    ),
    "SQLITE_CANTOPEN": (
        "it cannot be opened",
        "Make the file and its folder readable and writable for this user: chmod u+rw, or chown.",
    ),
    "SQLITE_NOTADB": (
        "it is not a database",
        "Correct server.store, or move the file away: the server then makes a new one.",
    ),
    "SQLITE_CORRUPT": ("it is damaged", REPAIR),
    "SQLITE_FULL": ("the disk is full", "Free space on the disk, or set server.retention_days."),
    "SQLITE_IOERR": ("the disk failed", "Check the disk, or move the store to another one."),
}


def examine_sqlite(path: Path, *, folder_is_made: bool) -> StoreFacts:
    """Look at a file.

    Args:
        path: The file of the store; it need not be there yet.
        folder_is_made: Whether the server makes the folder where it is missing.
    """
    try:
        return _examined(path, folder_is_made=folder_is_made)
    except PermissionError:
        what = f"{path} is in a folder that this user may not look into."
        return StoreFacts(findings=(failed(CHECK, what, _RIGHTS),))


def _examined(path: Path, *, folder_is_made: bool) -> StoreFacts:
    folder = path.absolute().parent
    while folder_is_made and not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if folder.exists() and not folder.is_dir():
        what = f"{folder} is a file; the store needs a folder there."
        return StoreFacts(findings=(failed(CHECK, what, "Move it away, or set server.store."),))
    if not folder.is_dir():
        what = f"The folder {folder} of the store is not there."
        return StoreFacts(findings=(failed(CHECK, what, f"mkdir -p '{folder}'"),))
    space = tuple(_check_space(folder))
    if not writable(folder):
        what = f"The folder {folder} of the store is not writable."
        advice = f"chown it to this user, or chmod u+wx '{folder}', or set server.store."
        return StoreFacts(findings=(failed(CHECK, what, advice), *space))
    if not path.exists():
        what = f"There is no {path} yet; the server makes it when it starts."
        return StoreFacts(findings=(ok(CHECK, what), *space), keys=0)
    if not path.is_file():
        what = f"{path} is not a file."
        return StoreFacts(findings=(failed(CHECK, what, "Set server.store to a file."), *space))
    try:
        facts = _opened(path)
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorname", type(error).__name__)
        why, advice = advice_for(code, _KNOWN)
        return StoreFacts(findings=(failed(CHECK, f"{path}: {why} ({code}).", advice), *space))
    return StoreFacts(findings=(*facts.findings, *space), newest=facts.newest, keys=facts.keys)


def _check_space(folder: Path) -> Iterator[Finding]:
    free = shutil.disk_usage(folder).free
    if free < _LEAST_FREE:
        yield failed(
            CHECK,
            f"Only {free // 1024**2} MB are free on the disk of {folder}.",
            "Free space there, set server.retention_days, or move the store.",
        )


def _opened(path: Path) -> StoreFacts:
    # "rw" makes no file. A database in WAL mode cannot be read without files beside it.
    address = f"file:{quote(str(path.absolute()))}?mode=rw"
    with closing(
        sqlite3.connect(address, uri=True, timeout=_PATIENCE_S, isolation_level=None)
    ) as connection:
        tables = _tables(connection)
        damage = _damage(connection, path)
        if damage is not None:
            return StoreFacts(findings=(failed(CHECK, f"{path} is damaged: {damage}.", REPAIR),))
        connection.execute("BEGIN IMMEDIATE")
        # A write that is taken back: without one, a read-only file would not be noticed.
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        connection.execute(f"PRAGMA user_version = {int(version)}")
        connection.execute("ROLLBACK")
        level = _one(connection, tables, "taskshield_version", "max(version_num)")
        newest = _one(connection, tables, "taskshield_records", "max(at)")
        keys = _one(connection, tables, "taskshield_keys", "count(*)")
    findings = tuple(check_level(level, tables))
    if all(each.state != "failed" for each in findings):
        size = path.stat().st_size / 1024**2
        good = ok(CHECK, f"{path} can be read and written ({size:,.1f} MB, version {level}).")
        findings = (good, *(each for each in findings if each.state != "ok"))
    return StoreFacts(findings=findings, newest=_moment(newest), keys=0 if keys is None else keys)


def _damage(connection: sqlite3.Connection, path: Path) -> str | None:
    if path.stat().st_size > _READ_WHOLE:
        return None
    found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    return None if found == "ok" else "its pages contradict each other"


def _tables(connection: sqlite3.Connection) -> dict[str, set[str]]:
    """The columns of each table."""
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    columns = "SELECT name FROM pragma_table_info(?)"
    return {name: {row[0] for row in connection.execute(columns, (name,))} for (name,) in names}


def _one(connection: sqlite3.Connection, tables: Container[str], table: str, column: str) -> Any:
    if table not in tables:
        return None
    return connection.execute(f"SELECT {column} FROM {table}").fetchone()[0]


def _moment(text: object) -> datetime | None:
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
