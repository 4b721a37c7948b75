"""Findings as a Parquet file, made from the lines when all are there."""

import os
from collections.abc import Iterator
from dataclasses import Field, fields
from itertools import islice
from pathlib import Path
from types import NoneType
from typing import Any, get_args

from taskshield.audit.results.files import FINDINGS, lines
from taskshield.audit.results.findings import Row
from taskshield.core.errors import MissingExtraError

PARQUET = "findings.parquet"
_ROWS = 10_000
"""That are in memory at a time."""


def require() -> None:
    """Find out early whether the file can be written.

    Raises:
        MissingExtraError: pyarrow is not installed.
    """
    _arrow()


def write(folder: Path) -> None:
    """Write the file anew; until it is whole, one that is there stays as it is.

    Raises:
        MissingExtraError: pyarrow is not installed.
        ConfigError: The findings are damaged.
    """
    arrow = _arrow()
    from pyarrow.parquet import ParquetWriter

    schema = _schema(arrow)
    unfinished = folder / f"{PARQUET}.part"
    rows = lines(folder, FINDINGS)
    with ParquetWriter(unfinished, schema, compression="zstd") as writer:
        for batch in _batches(rows):
            writer.write_table(arrow.Table.from_pylist(batch, schema=schema))
    os.replace(unfinished, folder / PARQUET)


def _batches(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    while batch := [_storable(row) for row in islice(rows, _ROWS)]:
        yield batch


def _storable(row: dict[str, Any]) -> dict[str, Any]:
    """Halves of surrogate pairs, which JSON can hold and Parquet cannot, as question marks."""
    return {
        name: value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
        for name, value in row.items()
    }


def _schema(arrow: Any) -> Any:
    """A column for each field of a row."""
    return arrow.schema([_column(field, arrow) for field in fields(Row)])


def _column(field: Field[Any], arrow: Any) -> Any:
    options = get_args(field.type)
    optional = NoneType in options
    kind: Any = options[0] if optional else field.type
    types = {int: arrow.int64(), float: arrow.float64(), bool: arrow.bool_()}
    return arrow.field(field.name, types.get(kind, arrow.string()), nullable=optional)


def _arrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError("pyarrow", "audit") from None
    return pyarrow
