"""Writes the findings to a Parquet file when the audit is complete."""

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
"""Rows in memory at a time."""


def require() -> None:
    """Check that the file can be written, before the audit starts.

    Raises:
        MissingExtraError: pyarrow is not installed.
    """
    _arrow()


def write(folder: Path) -> None:
    """Write the file. An existing one is replaced only when the new one is complete.

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
    """Replace lone surrogates, which JSON allows and Parquet does not, by question marks."""
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
