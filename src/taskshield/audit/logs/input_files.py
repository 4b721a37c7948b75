"""Finds the files that an audit reads, and names them for its results."""

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from taskshield.core.errors import ConfigError

PACKINGS = (".gz", ".xz", ".zst")
_ENDINGS = (".json", ".jsonl", ".ndjson", ".eval", ".parquet")
_READ = (*_ENDINGS, *(f"{ending}{packing}" for ending in _ENDINGS[:3] for packing in PACKINGS))
"""Endings of logs in a folder. A file that is named directly is always read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """A file to be read."""

    path: str
    name: str
    """Its path relative to the common folder of all files: results have no private paths."""
    size: int
    """Bytes of the file."""


def find(paths: Sequence[str], *, besides: Path) -> list[Input]:
    """The files of these paths, each once, in the given order.

    Args:
        paths: Files, folders and patterns such as `logs/**/*.jsonl`.
        besides: The folder of the results, which is skipped.

    Raises:
        ConfigError: A path has no log, or a link that leads out of the folder.
    """
    found: dict[str, None] = {}
    for path in paths:
        files = [file for file in _files(path) if besides.resolve() not in file.parents]
        if not files:
            raise ConfigError(f"{path} has no log that can be read.")
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
        logs = (file for file in given.rglob("*") if file.name.lower().endswith(_READ))
        yield from _inside(given, logs)
    else:
        yield from _inside(_fixed_folder(given), map(Path, glob.glob(path, recursive=True)))


def _inside(folder: Path, files: Iterable[Path]) -> Iterator[Path]:
    """The files, sorted. The author of the folder must not choose what else is read.

    Raises:
        ConfigError: A link leads out of the folder.
    """
    root = folder.resolve()
    for file in sorted(files):
        if file.is_file():
            found = file.resolve()
            if root not in found.parents:
                raise ConfigError(
                    f"{file} is a link that leads out of {folder}. Remove it, or name the file"
                    " that it leads to."
                )
            yield found


def _fixed_folder(pattern: Path) -> Path:
    """The folder of a pattern up to its first wildcard."""
    return next(each for each in pattern.parents if not glob.has_magic(str(each)))
