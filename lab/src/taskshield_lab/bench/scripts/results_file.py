"""Writes the figures of a benchmark script to a JSON file, with the command that made them."""

import json
import platform
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from taskshield import __version__

_REPOSITORY = Path(__file__).resolve().parents[5]
RESULTS = _REPOSITORY / "lab" / "benchmarks" / "results"


def write(name: str, figures: Mapping[str, object], *, inputs: list[str], folder: Path) -> Path:
    """Write the figures of a benchmark. Returns the path of the file.

    Args:
        name: Name of the file.
        figures: The measured figures.
        inputs: Names of the files that were read, without their folders, which are private.
        folder: The folder of the file.
    """
    record = {
        "benchmark": name,
        "command": _command(sys.argv),
        "taskshield": __version__,
        "python": platform.python_version(),
        "date": datetime.now(UTC).date().isoformat(),
        "inputs": inputs,
        **figures,
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return path


def _command(words: list[str]) -> str:
    script, *arguments = words
    names = [Path(word).name if "/" in word else word for word in arguments]
    path = Path(script).resolve()
    where = path.relative_to(_REPOSITORY) if path.is_relative_to(_REPOSITORY) else path.name
    return " ".join(["python", str(where), *names])
