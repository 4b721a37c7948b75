"""Speed of `taskshield audit`: on one core, in two processes, and on a Ray cluster of two actors.

Each audit is a process of its own, with the judge of the settings. An evenly chosen sample of the
conversations is audited, and then a single conversation. The time of the single one is the start-up
time, which is subtracted. --whole audits everything with one process per processor.

Each record of the logs must be a conversation, as in AgentDojo's runs. Run nothing else on the
machine.
"""

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.table import Table

from taskshield.audit.logs.input_files import Input, find
from taskshield.audit.logs.records import Record, records
from taskshield_lab.bench.scripts import results_file

NAME = "audit"
"""Of the benchmark."""
_RUN = """\
import os, sys
if sys.argv[1] == "one": os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from taskshield.cli.main import main
sys.exit(main(["audit", *sys.argv[2:]]))
"""
MODES: dict[str, tuple[str, ...]] = {
    "one core": (),
    "two processes": ("--workers", "2"),
    "Ray, two actors": ("--ray", "local", "--workers", "2"),
}
"""The options of each mode. The first may use only one processor."""
FIRST = next(iter(MODES))
_STARTS = 3
_COMPLETE = (0, 1, 3)
"""Exit statuses of a complete audit."""

Figures = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One audit."""

    seconds: float
    findings: str
    """A hash."""
    summary: Figures


def measure(files: Sequence[Input], modes: Sequence[str], limit: int) -> Figures:
    """Measure several modes on the same conversations."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        sample, single = folder / "sample.jsonl", folder / "single.jsonl"
        count = _write(sample, files, limit)
        _write(single, files, 1)
        rows: list[Figures] = []
        peaks = []
        for mode in modes:
            outs = (folder / f"{mode}-{number}" for number in range(_STARTS + 1))
            starts = [_audit([single], next(outs), mode).seconds for _ in range(_STARTS)]
            rows.append(_row(mode, count, median(starts), _audit([sample], next(outs), mode)))
            peaks.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
    same = {row.pop("findings") for row in rows}
    return {
        "conversations": count,
        "modes": _scaled(rows),
        "same_findings": len(same) == 1,
        "peak_mib": round(peaks[0]),  # later values include the largest earlier process
    }


def measure_whole(paths: Sequence[str]) -> Figures:
    """Audit everything at once."""
    workers = len(os.sched_getaffinity(0))
    with TemporaryDirectory() as name:
        ran = _audit(paths, Path(name) / "whole", "", "--workers", str(workers))
    kept = ("files", "conversations", "failures", "messages", "executed", "failed", "findings")
    return {
        "workers": workers,
        "seconds": round(ran.seconds, 1),
        "per_second": round(ran.summary["conversations"] / ran.seconds, 2),
        **{name: ran.summary[name] for name in (*kept, "suspicious", "held", "attacks")},
    }


def _row(mode: str, count: int, start: float, whole: Ran) -> Figures:
    taken = whole.seconds - start
    return {
        "mode": mode,
        "start_s": round(start, 2),
        "seconds": round(whole.seconds, 2),
        "per_second": round((count - 1) / taken, 2) if taken > 0 else None,
        "findings": whole.findings,
    }


def _scaled(rows: list[Figures]) -> list[Figures]:
    """The rows with how many times faster each is than the first."""
    first = rows[0]["per_second"]
    for row in rows:
        known = first and row["per_second"]
        row["ratio"] = round(row["per_second"] / first, 2) if known else None
    return rows


def _audit(paths: Sequence[object], out: Path, mode: str, *more: str) -> Ran:
    words = [*map(str, paths), "--out", str(out), "--no-color", *MODES.get(mode, ()), *more]
    began = time.perf_counter()
    ran = subprocess.run(
        [sys.executable, "-c", _RUN, "one" if mode == FIRST else "all", *words],
        capture_output=True,
        text=True,
    )
    seconds = time.perf_counter() - began
    if ran.returncode not in _COMPLETE:
        raise RuntimeError(f"The audit failed: {ran.stderr}")
    return Ran(
        seconds=seconds,
        findings=hashlib.sha256((out / "findings.jsonl").read_bytes()).hexdigest(),
        summary=json.loads((out / "summary.json").read_text()),
    )


def _write(path: Path, files: Sequence[Input], limit: int) -> int:
    """Write an even sample of the conversations. Returns its size."""
    total = sum(1 for _ in _payloads(files))
    wanted = min(limit, total)
    chosen = {number * total // wanted for number in range(wanted)}
    with path.open("w", encoding="utf-8") as file:
        for number, payload in enumerate(_payloads(files)):
            if number in chosen:
                file.write(f"{json.dumps(payload)}\n")
    return wanted


def _payloads(files: Sequence[Input]) -> Iterator[object]:
    for file in files:
        yield from (each.payload for each in records(file) if isinstance(each, Record))


def show(figures: Figures, console: Console) -> None:
    """Print the figures."""
    table = Table(title=f"{figures['conversations']:,} conversations")
    for name in ("", "start s", "all s", "conversations/s", "ratio"):
        table.add_column(name, justify="right" if name else "left")
    for row in figures["modes"]:
        values = (row[name] for name in ("start_s", "seconds", "per_second", "ratio"))
        table.add_row(row["mode"], *("-" if value is None else str(value) for value in values))
    console.print(table)
    console.print(
        "all modes: the same findings"
        if figures["same_findings"]
        else "the modes have DIFFERENT findings"
    )
    console.print(f"peak memory of one process: {figures['peak_mib']} MiB")
    if figures["whole"] is not None:
        whole = figures["whole"]
        rate = f"{whole['conversations']:,} conversations in {whole['seconds']:,} s"
        console.print(f"everything: {rate}, {whole['per_second']} a second")


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", metavar="PATH", nargs="+", help="logs, as for taskshield audit")
    parser.add_argument(
        "--limit", type=int, default=600, metavar="N", help="size of the sample (default: 600)"
    )
    parser.add_argument(
        "--mode",
        action="append",
        choices=MODES,
        metavar="NAME",
        help=f"one of {', '.join(MODES)}; repeatable",
    )
    parser.add_argument("--whole", action="store_true", help="also audit everything at once")
    parser.add_argument(
        "--results", type=Path, default=results_file.RESULTS, help="folder for the figures"
    )
    given = parser.parse_args(words)
    if given.limit < 2:
        parser.error("--limit must be at least 2.")
    files = find(given.paths, besides=given.results)
    figures = measure(files, given.mode or list(MODES), given.limit)
    figures["whole"] = measure_whole(given.paths) if given.whole else None
    show(figures, Console(width=100))
    names = [file.name for file in files]
    path = results_file.write(NAME, figures, inputs=names, folder=given.results)
    print(f"The figures were written to {path.name}.")


if __name__ == "__main__":
    main()
