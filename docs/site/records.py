"""What tables of docs/benchmarks.md are made from, and of: records, and lines of Markdown."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[2] / "lab" / "benchmarks" / "results"


def record(name: str) -> dict[str, Any]:
    """What a benchmark has written down."""
    told: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return told


def grid(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table; the first column is of words, the others of numbers."""
    rule = " | ".join(["---", *["---:"] * (len(head) - 1)])
    body = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([f"| {' | '.join(head)} |", f"| {rule} |", *body])
