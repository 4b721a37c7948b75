"""Runs jobs in worker processes.

Each process builds one shield and keeps it. Results arrive in the order in which runs end.
"""

import gc
import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from taskshield.api.shields import Shield
from taskshield.core.errors import TaskShieldError
from taskshield_lab.bench import record_files
from taskshield_lab.bench.agentdojo.suites import cache_address_validation
from taskshield_lab.bench.records import NO_DEFENCE, BenchmarkRun

_J = TypeVar("_J")

_AHEAD = 4
"""Jobs queued for each worker. No worker idles, and few results wait in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShieldPlan:
    """How each process builds its shield."""

    judge: str | None = NO_DEFENCE
    """None takes the judge of the settings."""
    llm: str | None = None
    base_url: str | None = None
    config: str | None = None

    def build(self) -> Shield | None:
        """The shield. None for no defence.

        Raises:
            ConfigError: A setting is wrong.
        """
        if self.judge == NO_DEFENCE:
            return None
        return Shield(self.judge, llm=self.llm, base_url=self.base_url, config=self.config)


RunJob = Callable[[_J, Shield | None], BenchmarkRun | None]
"""Runs one job; None where there is nothing to run. It must be a function of a module."""


def run_all(
    jobs: Iterable[_J], run_job: RunJob[_J], plan: ShieldPlan, *, workers: int
) -> Iterator[str | None]:
    """Run all jobs. For each, the line of its record, or None if its attack does not apply.

    Workers serialise their own records, so that this process does not do it for all of them.

    Raises:
        TaskShieldError: Every run would fail, e.g. because the key is wrong.
    """
    if workers == 1:
        yield from _run_here(jobs, run_job, plan)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, context, initializer=_initialise, initargs=(plan,))
    try:
        yield from _run_in_pool(pool, jobs, run_job, workers * _AHEAD)
    except BrokenProcessPool:
        raise TaskShieldError(
            "A worker process ended unexpectedly. If memory is short, use fewer --workers."
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _run_here(jobs: Iterable[_J], run_job: RunJob[_J], plan: ShieldPlan) -> Iterator[str | None]:
    shield = plan.build()
    try:
        for job in jobs:
            yield _line(run_job(job, shield))
    finally:
        if shield is not None:
            shield.close()


def _run_in_pool(
    pool: ProcessPoolExecutor, jobs: Iterable[_J], run_job: RunJob[_J], limit: int
) -> Iterator[str | None]:
    waiting = iter(jobs)
    pending: set[Future[_Outcome]] = set()
    while True:
        submitted = islice(waiting, limit - len(pending))
        with _interrupts_ignored():  # processes that start now inherit it
            pending |= {pool.submit(_run_in_worker, run_job, job) for job in submitted}
        if not pending:
            return
        done, pending = wait(pending, return_when=FIRST_COMPLETED)
        for future in done:
            outcome = future.result()
            if outcome.failure is not None:
                raise TaskShieldError(outcome.failure)
            yield outcome.line


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Workers ignore Ctrl-C. This process ends them itself."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


_shield: Shield | None = None
"""The shield of this process."""


def _initialise(plan: ShieldPlan) -> None:
    """Prepare a worker process."""
    global _shield
    cache_address_validation()
    gc.freeze()  # imported modules are never collected
    _shield = plan.build()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """The result of a worker, as text, which every process can pickle."""

    line: str | None = None
    failure: str | None = None
    """Why every run would fail."""


def _run_in_worker(run_job: RunJob[_J], job: _J) -> _Outcome:
    """Run one job in a worker."""
    try:
        return _Outcome(line=_line(run_job(job, _shield)))
    except TaskShieldError as error:
        return _Outcome(failure=str(error))


def _line(run: BenchmarkRun | None) -> str | None:
    return None if run is None else record_files.line(run)
