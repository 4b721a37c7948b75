"""Reads files of recorded AgentDojo runs."""

import json
import lzma
from collections.abc import Iterator
from pathlib import Path

from taskshield.adapters.traces.agentdojo_runs import RecordedRun, parse
from taskshield.core.errors import WireFormatError

WHERE = (
    "AgentDojo's authors publish recorded runs in the folder runs/ of the GitHub repository"
    " ethz-spylab/agentdojo."
)

_ENDINGS = (".json", ".jsonl", ".jsonl.xz")


def read(path: Path) -> Iterator[RecordedRun]:
    """The runs at this path.

    Args:
        path: A `.jsonl`, `.jsonl.xz` or `.json` file, or a folder of such files.

    Raises:
        WireFormatError: A file cannot be read, or it has no recorded run.
    """
    files = _files(path)
    if not files:
        raise WireFormatError(f"{path} has no .json, .jsonl or .jsonl.xz file with runs.")
    for file in files:
        yield from _runs(file)


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(each for each in path.rglob("*") if each.name.endswith(_ENDINGS))
    return [path] if path.name.endswith(_ENDINGS) else []


def _runs(path: Path) -> Iterator[RecordedRun]:
    try:
        if path.suffix == ".json":
            yield _run(path.read_text(encoding="utf-8"), path.name)
            return
        opened = lzma.open if path.suffix == ".xz" else open
        with opened(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield _run(line, f"{path.name}, line {number}")
    except (OSError, UnicodeDecodeError, lzma.LZMAError, EOFError) as error:
        raise WireFormatError(f"{path} cannot be read ({type(error).__name__}).") from None


def _run(text: str, name: str) -> RecordedRun:
    try:
        return parse(json.loads(text))
    except WireFormatError as error:
        raise WireFormatError(f"{name}: {error}") from None
    except (ValueError, RecursionError):
        raise WireFormatError(f"{name}: the line is not valid JSON.") from None
