"""Reads files of results and formats tables of docs/benchmarks.md."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[2] / "lab" / "benchmarks" / "results"


def results(name: str) -> dict[str, Any]:
    """The contents of a file of results."""
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def grid(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table. The first column is text, the others are numbers."""
    rule = " | ".join(["---", *["---:"] * (len(head) - 1)])
    body = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([f"| {' | '.join(head)} |", f"| {rule} |", *body])
