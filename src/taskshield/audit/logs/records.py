"""The records of a file: lines or documents of JSON, samples of an Inspect log, rows of Parquet.

Only one record is in memory at a time. A broken record is reported, and reading continues.
"""

import json
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import IO, Any
from zipfile import BadZipFile, ZipFile, ZipInfo

from taskshield.audit.logs.compression import DAMAGE, opened, unzstd
from taskshield.audit.logs.input_files import PACKINGS, Input
from taskshield.audit.logs.memory_limit import memory_limit
from taskshield.core.errors import MissingExtraError
from taskshield.core.json_limits import Excess, JsonLimits, JsonTooLarge, excess_of

MOST = 256 * 1024 * 1024
"""Longest record in bytes, decompressed. Longer ones are reported and skipped."""
_LIMITS = JsonLimits(values=1_000_000, keys=100_000)
"""A value of a few bytes takes a hundred in memory, so that bytes are no limit."""
_CHUNK = 1024 * 1024
_ROW_MEMORY = 1024 * 1024 * 1024
"""Most memory that a row of Parquet may take while it is read."""
_ZSTANDARD = 93
"""ZIP compression method of Zstandard, which Python 3.11 does not support."""
_LOCAL_HEADER = struct.Struct("<26xHH")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One record."""

    number: int
    """Number of its line, sample or row, from 1."""
    payload: object
    read: int
    """Bytes of the file that have been read by now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A record, or the rest of a file, that cannot be read."""

    number: int
    reason: str
    """Without text from the record."""
    read: int


Records = Iterator[Record | Broken]


def records(source: Input) -> Records:
    """All records of a file.

    Raises:
        MissingExtraError: The file needs an optional package.
    """
    last = 0
    try:
        for record in _reader(source)(source):
            last = record.number
            yield record
    except (*DAMAGE, BadZipFile, NotImplementedError, ValueError) as error:  # the last two: of ZIP
        why = error.strerror if isinstance(error, OSError) and error.strerror else "it is damaged"
        reason = f"the file cannot be read any further: {why}"
        yield Broken(number=last + 1, reason=reason, read=source.size)


def _reader(source: Input) -> Callable[[Input], Records]:
    name = source.path.lower()
    for packing in PACKINGS:
        name = name.removesuffix(packing)
    if name.endswith(".eval"):
        return _samples
    if name.endswith(".parquet"):
        return _rows
    return _lines if name.endswith((".jsonl", ".ndjson")) else _document_or_lines


def _lines(source: Input) -> Records:
    with opened(source.path) as file:
        number = 0
        while line := file.data.readline(MOST):
            number += 1
            if len(line) == MOST and not line.endswith(b"\n"):
                _skip_line(file.data)
                yield Broken(number=number, reason=_too_long(), read=file.read)
            elif line.strip():
                yield _parsed(line, number, file.read)


def _skip_line(data: IO[bytes]) -> None:
    while (piece := data.readline(_CHUNK)) and not piece.endswith(b"\n"):
        pass


def _document_or_lines(source: Input) -> Records:
    """One document over many lines, or one per line. The first line decides."""
    with opened(source.path) as file:
        first = file.data.readline(MOST)
        if isinstance(_parsed(first, 1, 0), Broken):
            rest = file.data.read(MOST - len(first) + 1)
            if len(first) + len(rest) > MOST:
                yield Broken(number=1, reason=_too_long(), read=source.size)
            else:
                yield _parsed(first + rest, 1, file.read)
            return
    yield from _lines(source)


def _samples(source: Input) -> Records:
    """The samples of an Inspect log, which is a ZIP archive with a file for each."""
    with open(source.path, "rb") as file, ZipFile(file) as archive:
        members = [each for each in archive.infolist() if _is_sample(each.filename)]
        for number, member in enumerate(members, start=1):
            read = source.size * number // len(members)
            if member.file_size > MOST:
                yield Broken(number=number, reason=_too_long(), read=read)
                continue
            try:
                data = _unpacked(member, archive, file)
            except (*DAMAGE, BadZipFile, NotImplementedError, RuntimeError):
                reason = "the sample is damaged, encrypted or packed in an unknown way"
                yield Broken(number=number, reason=reason, read=read)
            else:
                yield _parsed(data, number, read)


def _is_sample(name: str) -> bool:
    return name.startswith("samples/") and name.endswith(".json")


def _unpacked(member: ZipInfo, archive: ZipFile, file: IO[bytes]) -> bytes:
    if member.compress_type != _ZSTANDARD:
        with archive.open(member) as data:
            return data.read(MOST)
    file.seek(member.header_offset)
    lengths = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    file.seek(sum(lengths), 1)  # the name and the extra field, which may differ from the index's
    found = unzstd(file.read(member.compress_size), MOST)
    if zlib.crc32(found) != member.CRC:
        raise BadZipFile
    return found


def _rows(source: Input) -> Records:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise MissingExtraError("pyarrow", "audit") from None
    _use_plain_allocator()
    number = 0
    try:
        with memory_limit(_ROW_MEMORY):
            table = ParquetFile(source.path)
        with table:
            total = max(1, table.metadata.num_rows)
            # One at a time: cells that are short in the file may be long in memory.
            batches = table.iter_batches(batch_size=1, use_threads=False)
            while True:
                with memory_limit(_ROW_MEMORY):
                    rows = [] if (batch := next(batches, None)) is None else batch.to_pylist()
                if batch is None:
                    return
                for row in rows:
                    number += 1
                    read = source.size * number // total
                    yield Record(number=number, payload=_plain(row), read=read)
    except MemoryError:
        reason = "the rest of the file cannot be read: the next row is too long for the memory"
        yield Broken(number=number + 1, reason=reason, read=source.size)
    except ArrowException:
        reason = "the file cannot be read any further: it is damaged"
        yield Broken(number=number + 1, reason=reason, read=source.size)


def _use_plain_allocator() -> None:
    """Have Arrow allocate rows one by one.

    Its own allocator reserves a gigabyte with the first byte. It is given that here, because parts
    of Arrow use it all the same.
    """
    import pyarrow

    pyarrow.allocate_buffer(1)
    pyarrow.set_memory_pool(pyarrow.system_memory_pool())


def _plain(value: Any) -> Any:
    """A value of a column as it would be in JSON."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, date):
        return value.isoformat(" ") if isinstance(value, datetime) else value.isoformat()
    return value if isinstance(value, str | int | float | None) else str(value)


def _parsed(data: bytes, number: int, read: int) -> Record | Broken:
    if (excess := excess_of(data, _LIMITS)) is not None:
        return Broken(number=number, reason=_too_many(excess), read=read)
    try:
        payload = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return Broken(number=number, reason=f"not UTF-8 (byte {error.start})", read=read)
    except json.JSONDecodeError as error:
        reason = f"not JSON (line {error.lineno}, column {error.colno}: {error.msg})"
        return Broken(number=number, reason=reason, read=read)
    except (ValueError, RecursionError):  # a very long number, or deep nesting
        return Broken(number=number, reason="not JSON that can be read", read=read)
    return Record(number=number, payload=payload, read=read)


def _too_many(excess: Excess) -> str:
    return str(JsonTooLarge(excess, _LIMITS)).removeprefix("body: ")


def _too_long() -> str:
    return f"longer than {MOST // 1024 // 1024} MiB"
