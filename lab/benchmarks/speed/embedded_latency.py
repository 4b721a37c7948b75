"""Latency of the embedded judge's checks, and the time of their stages.

Recorded conversations are replayed in real sessions, one message after the other, in one process.
Caches are cleared between conversations. Run nothing else on the machine. The script also measures:

- a long conversation from our own data: whether checks become slower
- 1 MB of tool output beside 250 kB: whether time grows linearly
- fresh processes, from the start to the first stopped attack
- the floor: the arithmetic of the forward passes at this machine's rate for large matrices
- baselines without training: the cosine of hashed words and, with --base, of sentence embeddings.
  Only their latency is measured
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import similarity_baseline
from arithmetic_floor import THREADS, floors, rates
from cold_start import TIMES, cold_start
from long_output import Material
from rich.console import Console
from rich.table import Table
from stage_times import STAGES
from timed_checks import KINDS, Check, Replay, long_session, replay, seconds_for_output

from taskshield.adapters.traces.agentdojo_runs import RecordedRun
from taskshield.core.errors import WireFormatError
from taskshield.judges.embedded.network import model_files
from taskshield.judges.embedded.network.model import shared
from taskshield_lab.bench.run.recorded_runs import read
from taskshield_lab.bench.scripts import results_file
from taskshield_lab.bench.scripts.process_memory import memory
from taskshield_lab.bench.scripts.recorded_options import recorded_parser

WIDTH = 120
STEPS = 120
LARGE = (250_000, 1_000_000)
SHARES = (50, 90, 99)
NAME = "embedded_latency"
Figures = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much is measured. The defaults are those of the command."""

    steps: int = STEPS
    large: tuple[int, ...] = LARGE
    starts: int = TIMES


def measure(
    runs: Sequence[RecordedRun],
    *,
    model: Path | None = None,
    base: Path | None = None,
    sizes: Sizes,
) -> Figures:
    """All figures.

    Args:
        runs: Recorded runs, in the order in which they are replayed.
        model: A folder of weights. None takes the shipped ones.
        base: A folder with the published encoder, for the baseline.
        sizes: How much is measured.
    """
    found = asyncio.run(replay(runs))
    used = memory()  # before anything else runs in this process
    material = Material()
    seconds = {
        size: asyncio.run(seconds_for_output(material.output(size, Random(size))))
        for size in sizes.large
    }
    machine = rates()
    return {
        "model": shared().label,
        "conversations": len(runs),
        "failed": found.failed,
        "checks": {kind: latency(found, kind) for kind in KINDS},
        "stages": {kind: stages(found, kind) for kind in KINDS[1:]},
        "long_session": asyncio.run(long_session(material, sizes.steps)),
        "large_output": {
            "seconds": {size: round(taken, 2) for size, taken in seconds.items()},
            "last_over_first": round(seconds[sizes.large[-1]] / seconds[sizes.large[0]], 2),
        },
        "cold_start": cold_start(model, sizes.starts),
        "memory_after_replay_mib": {"resident": used["VmRSS"], "peak": used["VmHWM"]},
        "floor": {
            "threads": THREADS,
            "giga_operations_per_second": {
                name: round(rate / 1e9, 1) for name, rate in machine.items()
            },
            **{kind: floors(_of(found, kind), machine) for kind in KINDS[1:]},
        },
        "cosine": baselines(runs, base),
    }


def latency(found: Replay, kind: str) -> Figures:
    """Percentiles of the checks of one kind."""
    checks = _of(found, kind)
    times = [check.ms for check in checks]
    figures: Figures = {"count": len(times), **percentiles(times)}
    if kind == "tool output":
        size = sum(check.size for check in checks) / 1000
        figures |= {"kB": round(size, 1), "ms_per_kB": round(sum(times) / max(size, 0.001), 2)}
    return figures


def percentiles(times: Sequence[float]) -> dict[str, float | None]:
    """Percentiles of the times. None if there are no times."""
    ordered = sorted(times)
    return {
        f"p{share}_ms": round(ordered[ceil(len(ordered) * share / 100) - 1], 2) if ordered else None
        for share in SHARES
    }


def stages(found: Replay, kind: str) -> Figures:
    """The time of each stage of the checks of one kind."""
    checks = _of(found, kind)
    if not checks:
        return {}
    whole = sum(check.ms for check in checks)
    return {
        "stages": {
            stage: {
                "median_ms": round(median(check.stages[stage] for check in checks), 3),
                "share": round(sum(check.stages[stage] for check in checks) / whole, 4),
            }
            for stage in STAGES
        },
        "median_passes": median(len(check.passes) for check in checks),
        "most_passes": max(len(check.passes) for check in checks),
        "median_tokens": median(sum(check.passes) for check in checks),
    }


def baselines(runs: Sequence[RecordedRun], base: Path | None) -> Figures:
    """Latency of comparing a call with the user's request."""
    pairs = similarity_baseline.pairs(runs)
    embeddings: dict[str, Callable[[str], similarity_baseline.Vector]] = {
        "hashed words": similarity_baseline.hashed
    }
    if base is not None:
        embeddings["sentence embeddings"] = similarity_baseline.base_model(base, THREADS)
    return {
        name: percentiles(similarity_baseline.milliseconds(embed, pairs))
        for name, embed in embeddings.items()
    }


def _of(found: Replay, kind: str) -> list[Check]:
    return [check for check in found.checks if check.kind == kind]


def show(figures: Figures, console: Console) -> None:
    """Print the figures."""
    console.print(
        f"{figures['model']}: {figures['conversations']} conversations, {figures['failed']} outages"
    )
    table = Table()
    table.add_column("check of", no_wrap=True)
    for column in ("checks", *(f"p{share} ms" for share in SHARES), "passes", "tokens"):
        table.add_column(column, justify="right", no_wrap=True)
    for kind, latencies in figures["checks"].items():
        spent = figures["stages"].get(kind, {})
        table.add_row(
            kind,
            str(latencies["count"]),
            *(f"{latencies[f'p{share}_ms']}" for share in SHARES),
            *(f"{spent.get(name, 0):g}" for name in ("median_passes", "median_tokens")),
        )
    console.print(table)
    console.print(_stage_table(figures["stages"]))
    long, large, cold = figures["long_session"], figures["large_output"], figures["cold_start"]
    lines = {
        "tool output": f"{figures['checks']['tool output']['ms_per_kB']} ms a kB",
        "median ms by step of a long conversation": long["median_ms_of_tool_calls"],
        "the same beside the model": long["median_ms_beside_the_model"],
        "bytes segmented for each byte of its output": long["segmented_per_byte"],
        "seconds for large output": f"{large['seconds']}, ratio {large['last_over_first']}",
        "cold start": f"{cold['median_seconds']} s, stopped: {cold['attack_stopped']},"
        f" {cold['resident_mib']} MiB, peak {cold['peak_mib']}",
        "MiB after the replay": figures["memory_after_replay_mib"],
        "floor": figures["floor"],
        "cosine": figures["cosine"],
    }
    for name, value in lines.items():
        console.print(f"{name}: {value}", highlight=False)


def _stage_table(kinds: Figures) -> Table:
    table = Table()
    table.add_column("median ms, share of all time", no_wrap=True)
    for kind in kinds:
        table.add_column(kind, justify="right", no_wrap=True)
    for stage in STAGES:
        spent = [each.get("stages", {}).get(stage) for each in kinds.values()]
        shown = ["-" if s is None else f"{s['median_ms']:.2f}, {s['share']:.0%}" for s in spent]
        table.add_row(stage, *shown)
    return table


def main(words: Sequence[str] | None = None, sizes: Sizes | None = None) -> None:
    parser = recorded_parser(__doc__)
    parser.add_argument(
        "--sample",
        type=int,
        default=150,
        metavar="N",
        help="number of conversations, drawn with a fixed seed",
    )
    parser.add_argument(
        "--model", type=Path, metavar="DIR", help="folder of weights (default: the shipped ones)"
    )
    parser.add_argument(
        "--base",
        type=Path,
        metavar="DIR",
        help="all-MiniLM-L6-v2: config.json, tokenizer.json, model.safetensors (needs [train])",
    )
    parser.add_argument(
        "--results", type=Path, default=results_file.RESULTS, help="folder for the figures"
    )
    given = parser.parse_args(words)
    try:
        runs = [run for path in given.paths for run in read(path) if not run.error]
    except WireFormatError as error:
        parser.error(str(error))
    if not runs:
        parser.error("No runs were found.")
    if given.model is not None:
        model_files.SHIPPED = given.model
    sample = Random(given.sample).sample(runs, min(given.sample, len(runs)))
    del runs  # memory is measured
    figures = measure(
        sample, model=given.model, base=given.base, sizes=Sizes() if sizes is None else sizes
    )
    show(figures, Console(width=WIDTH))
    names = [path.name for path in given.paths]
    path = results_file.write(NAME, figures, inputs=names, folder=given.results)
    print(f"The figures were written to {path.name}.")


if __name__ == "__main__":
    main()
