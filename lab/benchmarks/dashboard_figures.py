"""Copies the figures of `lab/benchmarks/results` into the package, for the dashboard.

python lab/benchmarks/dashboard_figures.py

Only figures are copied: no conversations, attacks or tasks.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "lab" / "benchmarks" / "results"
SHIPPED = ROOT / "src" / "taskshield" / "server" / "dashboard" / "benchmarks.json"

_HEADER = ("way", "judge", "defence", "version", "date", "taskshield", "agentdojo", "runs")
_RATES = ("clean_utility", "utility", "asr", "asr_by_calls", "false_blocks", "disturbed")
_NUMBERS = ("clean_runs", "attacked_runs", "outages", "p50_ms", "p99_ms", "llm_calls")
_LATENCY = "embedded_latency"


def main() -> None:
    SHIPPED.write_text(text(), encoding="utf-8")
    print(f"{SHIPPED.relative_to(ROOT)}: {SHIPPED.stat().st_size} bytes")


def text() -> str:
    """The shipped JSON, made from the current results."""
    latency = json.loads((RESULTS / f"{_LATENCY}.json").read_text())
    figures = {
        "exams": list(_benchmarks()),
        "latency": {
            "model": latency["model"],
            "date": latency["date"],
            "conversations": latency["conversations"],
            "checks": [
                {"name": name, **{key: row[key] for key in ("count", "p50_ms", "p90_ms", "p99_ms")}}
                for name, row in latency["checks"].items()
            ],
        },
    }
    return f"{json.dumps(figures, separators=(',', ':'))}\n"


def _benchmarks() -> Iterator[dict[str, Any]]:
    for path in sorted(RESULTS.glob("*.json")):
        made = json.loads(path.read_text())
        if "results" in made and "way" in made:
            rows = [_row(row) for row in made["results"]]
            yield {"name": path.stem, **{key: made[key] for key in _HEADER}, "results": rows}


def _row(row: dict[str, Any]) -> dict[str, Any]:
    overall = row["overall"]
    return {
        "agent": row["agent"],
        "attack": row["attack"],
        **{name: overall[name] for name in (*_RATES, *_NUMBERS)},
    }


if __name__ == "__main__":
    main()
