"""The file of a backup: rows of all tables as lines of JSON, compressed with gzip.

The first line says what made the backup and which tables and columns follow. Each table is a line
with its name, one line for each row and a line with their number. The last line has the SHA-256 of
all lines before it, so a file that was cut off or changed is recognised. Nothing in it is ever used
as the name of a file.
"""

import gzip
import hashlib
import json
import os
import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from taskshield.core.errors import ConfigError, WireFormatError
from taskshield.stores.maintenance.plain_rows import (
    PlainTable,
    Value,
    WrongValue,
    plain_table,
)

_FORMAT = 1
_LONGEST = 512 * 1024 * 1024
"""Bytes of a line. A session has 64 MB at most; what a file of zeros unpacks to is far more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a backup says about itself."""

    release: str
    """The release of taskshield that made it."""
    level: str
    """The version of its tables."""
    made_at: str
    tables: Sequence[PlainTable]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableStart:
    """From here on, rows are of this table."""

    table: PlainTable


class BackupWriter:
    """Writes the lines of a backup."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._digest = hashlib.sha256()

    def start(self, manifest: Manifest) -> None:
        """Write the first line."""
        self._line(
            {
                "taskshield_backup": _FORMAT,
                "release": manifest.release,
                "level": manifest.level,
                "made_at": manifest.made_at,
                "tables": {
                    each.name: [column.name for column in each.columns] for each in manifest.tables
                },
            }
        )

    def table(self, name: str) -> None:
        """Begin a table."""
        self._line({"table": name})

    def row(self, values: Sequence[Value]) -> None:
        """Write a row of the table that was begun."""
        self._line(values)

    def table_end(self, rows: int) -> None:
        """End a table."""
        self._line({"rows": rows})

    def end(self) -> None:
        """Write the last line."""
        self._line({"sha256": self._digest.hexdigest()})

    def _line(self, value: object) -> None:
        line = json.dumps(value, separators=(",", ":")).encode() + b"\n"
        self._digest.update(line)
        try:
            self._file.write(line)
        except OSError as error:
            raise _not_written(error) from None


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """A compressed file that appears under its name only when it is complete.

    Only its owner can read it: it holds conversations and hashes of keys.

    Raises:
        ConfigError: There is such a file already, or it cannot be written.
    """
    if path.exists() or path.is_symlink():
        raise ConfigError(f"{path} exists already. Choose another name.")
    try:
        number, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # mode 0600
    except OSError as error:
        raise _not_written(error) from None
    try:
        with open(number, "wb") as plain:
            with gzip.GzipFile("", "wb", compresslevel=3, fileobj=plain) as packed:
                yield packed  # type: ignore[misc]
            plain.flush()
            os.fsync(plain.fileno())
        if path.exists():
            raise ConfigError(f"{path} exists already. Choose another name.")
        os.replace(temporary, path)
    except OSError as error:
        raise _not_written(error) from None
    finally:
        Path(temporary).unlink(missing_ok=True)


def read_backup(path: Path) -> Iterator[Manifest | TableStart | Sequence[Value]]:
    """What a backup holds: its manifest, and each table with its rows. All of it is checked.

    Raises:
        ConfigError: The file cannot be read.
        WireFormatError: It is no backup, was made by a newer release, or is damaged. This may show
            only at the end.
    """
    try:
        with gzip.open(path, "rb") as file:
            yield from _items(_lines(file))
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise WireFormatError(f"{path} is no backup, or was cut off.") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from None


def manifest_of(path: Path) -> Manifest:
    """What a backup says about itself.

    Raises:
        ConfigError: The file cannot be read.
        WireFormatError: It is no backup, or was made by a newer release.
    """
    for item in read_backup(path):
        if isinstance(item, Manifest):
            return item
    raise WireFormatError(f"{path} is no backup.")


def _lines(file: gzip.GzipFile) -> Iterator[tuple[Any, str]]:
    """Each line, and the digest of those before it."""
    digest = hashlib.sha256()
    number = 0
    while line := file.readline(_LONGEST):
        number += 1
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            raise _damaged(number) from None
        before = digest.hexdigest()
        digest.update(line)
        yield value, before


def _items(
    lines: Iterator[tuple[Any, str]],
) -> Iterator[Manifest | TableStart | Sequence[Value]]:
    manifest = _manifest(next(lines, (None, ""))[0])
    yield manifest
    number = 1
    for table in manifest.tables:
        number += 1
        if next(lines, (None, ""))[0] != {"table": table.name}:
            raise _damaged(number)
        yield TableStart(table=table)
        rows = 0
        for value, _ in lines:
            number += 1
            if isinstance(value, dict):
                if value != {"rows": rows}:
                    raise _damaged(number)
                break
            rows += 1
            try:
                yield table.check(value)
            except WrongValue as error:
                raise WireFormatError(f"Line {number} of the backup: {error}.") from None
        else:
            raise WireFormatError("The backup was cut off.")
    value, digest = next(lines, (None, ""))
    if value is None:
        raise WireFormatError("The backup was cut off.")
    if value != {"sha256": digest} or next(lines, None) is not None:
        raise WireFormatError("The backup was changed: its checksum does not fit.")


def _manifest(value: object) -> Manifest:
    if not isinstance(value, Mapping) or "taskshield_backup" not in value:
        raise WireFormatError("This is no backup of taskshield.")
    newer = WireFormatError("The backup was made by a newer release. Update taskshield first.")
    if value["taskshield_backup"] != _FORMAT:
        raise newer
    try:
        tables = [plain_table(name, columns) for name, columns in value["tables"].items()]
        return Manifest(
            release=str(value["release"]),
            level=str(value["level"]),
            made_at=str(value["made_at"]),
            tables=tables,
        )
    except KeyError:
        raise newer from None
    except (TypeError, AttributeError):
        raise _damaged(1) from None


def _damaged(line: int) -> WireFormatError:
    return WireFormatError(f"Line {line} of the backup cannot be read: the file is damaged.")


def _not_written(error: OSError) -> ConfigError:
    return ConfigError(f"The file cannot be written: {error.strerror}.")
