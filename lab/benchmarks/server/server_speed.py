"""Throughput and latency of the server, beside requests without it.

All servers run on this machine, each in its own process:

- taskshield: our server with the embedded judge and an SQLite file, as the Azure route and as a
  proxy; once more as a proxy that forwards requests before their check ends
  (`server.upstream.ahead`)
- upstream: a scripted provider, called directly
- bare: a pass-through proxy with the same framework that checks nothing
- litellm: its proxy, which checks nothing, if --other gives its command

The provider answers at once, which shows the work of the processor, and after a delay, which is
closer to real use. No request is made twice. With --runs, recorded conversations are sent as well,
with the mix of calls of real agents. Run nothing else on the machine.
"""

import argparse
import os
import shlex
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from shutil import which
from statistics import median
from tempfile import TemporaryDirectory

import server_processes
from latency_budgets import budgets, compared
from recorded_traffic import WARM, recorded_row
from request_rows import (
    AZURE_CASES,
    CHAT_CASES,
    Amount,
    Figures,
    Target,
    azure_row,
    chat_row,
    percentiles,
)
from rich.console import Console
from server_processes import Running
from server_tables import WIDTH, show

from taskshield.adapters.traces.agentdojo_runs import RecordedRun
from taskshield.core.errors import WireFormatError
from taskshield_lab.bench.run.recorded_runs import WHERE, read
from taskshield_lab.bench.scripts import results_file
from taskshield_lab.bench.scripts.process_memory import memory

NAME = "server"
"""Name of the results file."""
_SLOWER = 10
"""Divisor for the requests of a single client if the provider is slow."""
_SYNCS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much is measured."""

    requests: int
    clients: int
    starts: int
    delay_ms: int

    def amounts(self, delay_ms: int = 0) -> tuple[Amount, Amount]:
        """One client, then several."""
        alone = max(2, self.requests // _SLOWER) if delay_ms else self.requests
        return (
            Amount(clients=1, requests=alone),
            Amount(clients=self.clients, requests=self.requests),
        )


def measure(sizes: Sizes, other: str | None, runs: Sequence[RecordedRun] = ()) -> Figures:
    """All figures.

    Args:
        sizes: How much is measured.
        other: The command that starts litellm's proxy.
        runs: Recorded runs, if there are any.
    """
    delays = (0, sizes.delay_ms)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        upstream = stack.enter_context(server_processes.scripted_upstream(folder))
        start = _starts(folder, upstream, sizes.starts)
        ours = stack.enter_context(server_processes.taskshield(folder, upstream.url))
        bare = stack.enter_context(server_processes.bare(folder, upstream.url))
        ahead = stack.enter_context(server_processes.taskshield(folder, upstream.url, ahead=True))
        shield = Target(name="taskshield", running=ours, checks=True)
        targets = [
            Target(name="upstream", running=upstream),
            Target(name="bare", running=bare),
            shield,
            Target(name="ahead", running=ahead, checks=True),
        ]
        if other is not None:
            running = stack.enter_context(
                server_processes.litellm(other, folder, upstream.url, delays)
            )
            targets.append(Target(name="litellm", running=running))
        figures: Figures = {
            "sizes": asdict(sizes),
            "other": None if other is None else _version(other),
            "start": start,
            "disk_sync_ms": percentiles(_syncs(folder)),
            "azure": [
                azure_row(shield, case, amount)
                for case in AZURE_CASES
                for amount in sizes.amounts()
            ],
            "recorded": recorded_row(ours, runs, sizes.requests) if runs else None,
            "chat": compared([row for delay in delays for row in _chat(targets, sizes, delay)]),
        }
        used = memory(ours.pid)
    figures["memory_after_mib"] = {"resident": used["VmRSS"], "peak": used["VmHWM"]}
    return {**figures, "budgets": budgets(figures)}


def _chat(targets: Sequence[Target], sizes: Sizes, delay_ms: int) -> Iterator[Figures]:
    """All rows of one delay. Rows that are compared are measured one after the other."""
    for case in CHAT_CASES:
        for stream in (False, True):
            for amount in sizes.amounts(delay_ms):
                for target in targets:
                    yield chat_row(target, case, amount, delay_ms=delay_ms, stream=stream)


def _starts(folder: Path, upstream: Running, times: int) -> Figures:
    """Seconds until fresh processes are ready. One more process runs first."""
    seconds, held = [], {}
    for _ in range(times + 1):
        with server_processes.taskshield(folder, upstream.url) as running:
            seconds.append(running.ready_s)
            held = memory(running.pid)
    return {
        "processes": times,
        "median_seconds": round(median(seconds[1:]), 3),
        "seconds": [round(each, 3) for each in seconds[1:]],
        "resident_mib": held["VmRSS"],
    }


def _syncs(folder: Path) -> list[float]:
    """Milliseconds that the disk takes to keep a page for sure, as at the end of a transaction."""
    taken = []
    with (folder / "synced").open("wb", buffering=0) as file:
        for _ in range(_SYNCS):
            began = time.perf_counter()
            file.write(bytes(4096))
            os.fsync(file.fileno())
            taken.append((time.perf_counter() - began) * 1000)
    return taken


def _version(command: str) -> str:
    """The version of litellm."""
    words = [*shlex.split(command), "--version"]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return " ".join(said.split())


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--requests", type=int, default=100, metavar="N", help="requests per row (100)"
    )
    parser.add_argument("--clients", type=int, default=8, metavar="N", help="parallel clients (8)")
    parser.add_argument(
        "--starts", type=int, default=3, metavar="N", help="starts of the server (3)"
    )
    parser.add_argument(
        "--delay", type=int, default=200, metavar="MS", help="delay of the slow provider (200)"
    )
    parser.add_argument(
        "--other",
        metavar="COMMAND",
        help="command of litellm, from an environment with litellm[proxy]",
    )
    parser.add_argument(
        "--results", type=Path, default=results_file.RESULTS, help="folder for the figures"
    )
    parser.add_argument("--runs", metavar="PATH", type=Path, help=f"recorded runs. {WHERE}")
    given = parser.parse_args(words)
    if min(given.requests, given.clients, given.starts, given.delay) < 1 or given.requests < 2:
        parser.error("Give at least 2 requests, and at least 1 of everything else.")
    if given.other is not None and which(shlex.split(given.other)[0]) is None:
        parser.error("--other: The command does not exist.")
    sizes = Sizes(
        requests=given.requests, clients=given.clients, starts=given.starts, delay_ms=given.delay
    )
    try:
        runs = [] if given.runs is None else [run for run in read(given.runs) if not run.error]
    except WireFormatError as error:
        parser.error(str(error))
    if given.runs is not None and len(runs) <= WARM:
        parser.error(f"--runs: More than {WARM} runs are needed.")
    figures = measure(sizes, given.other, runs)
    show(figures, Console(width=WIDTH))
    inputs = [] if given.runs is None else [given.runs.name]
    path = results_file.write(NAME, figures, inputs=inputs, folder=given.results)
    print(f"The figures were written to {path.name}.")


if __name__ == "__main__":
    main()
