"""Which files an audit reads, and what they are called in its results."""

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from taskshield.core.errors import ConfigError

PACKINGS = (".gz", ".xz", ".zst")
_ENDINGS = (".json", ".jsonl", ".ndjson", ".eval", ".parquet")
_READ = (*_ENDINGS, *(f"{ending}{packing}" for ending in _ENDINGS[:3] for packing in PACKINGS))
"""What is taken for a log where a folder is given; a file that is named is always read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """A file to be read."""

    path: str
    name: str
    """Its path from the folder that all files of the audit share. Where that is, is nobody's
    business."""
    size: int
    """In bytes, as it lies there."""


def find(paths: Sequence[str], *, besides: Path) -> list[Input]:
    """The files that are meant, each once, in the order in which they are named.

    Args:
        paths: Files, folders and patterns such as `logs/**/*.jsonl`.
        besides: The folder of the results, which may lie among the logs and is not one.

    Raises:
        ConfigError: One of the paths leads to no log.
    """
    found: dict[str, None] = {}
    for path in paths:
        files = [file for file in _files(path) if besides.resolve() not in file.parents]
        if not files:
            raise ConfigError(f"{path}: there is no log to be read")
        found.update(dict.fromkeys(map(str, files)))
    shared = os.path.commonpath([os.path.dirname(path) for path in found])
    return [
        Input(path=path, name=os.path.relpath(path, shared), size=os.path.getsize(path))
        for path in found
    ]


def _files(path: str) -> Iterator[Path]:
    given = Path(path)
    if given.is_file():
        yield given.resolve()
    elif given.is_dir():
        yield from _logs_in(given)
    else:
        for match in sorted(glob.glob(path, recursive=True)):
            if os.path.isfile(match):
                yield Path(match).resolve()


def _logs_in(folder: Path) -> Iterator[Path]:
    for each in sorted(folder.rglob("*")):
        if each.is_file() and each.name.lower().endswith(_READ):
            yield each.resolve()
