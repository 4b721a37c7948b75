"""Many runs at once, in processes of their own.

Each process makes one shield and keeps it. Runs come back in the order in which they end.
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
from taskshield_lab.bench.agentdojo.suites import remember_addresses
from taskshield_lab.bench.records import NO_DEFENCE, BenchmarkRun

_J = TypeVar("_J")

_AHEAD = 4
"""Jobs that wait for each worker, so that none idles and none piles up in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShieldPlan:
    """How each process makes its shield."""

    judge: str | None = NO_DEFENCE
    """None takes the judge of the settings."""
    llm: str | None = None
    base_url: str | None = None
    config: str | None = None

    def build(self) -> Shield | None:
        """The shield; None for no defence.

        Raises:
            ConfigError: A setting is wrong.
        """
        if self.judge == NO_DEFENCE:
            return None
        return Shield(self.judge, llm=self.llm, base_url=self.base_url, config=self.config)


Sit = Callable[[_J, Shield | None], BenchmarkRun | None]
"""Runs one job; None where there is nothing to run. It must be a function of a module."""


def run_all(
    jobs: Iterable[_J], sit: Sit[_J], plan: ShieldPlan, *, workers: int
) -> Iterator[str | None]:
    """Run all jobs: for each the line of its record, or None where there was nothing to run.

    Records are written out where they are made: that is work, too, and one process would have to
    do it for all.

    Raises:
        TaskShieldError: Something is wrong that would spoil every run, such as a wrong key.
    """
    if workers == 1:
        yield from _sit_here(jobs, sit, plan)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(plan,))
    try:
        yield from _sit_in(pool, jobs, sit, workers * _AHEAD)
    except BrokenProcessPool:
        raise TaskShieldError("a worker process died; fewer of them need less memory") from None
    finally:
        pool.shutdown(cancel_futures=True)


def _sit_here(jobs: Iterable[_J], sit: Sit[_J], plan: ShieldPlan) -> Iterator[str | None]:
    shield = plan.build()
    try:
        for job in jobs:
            yield _line(sit(job, shield))
    finally:
        if shield is not None:
            shield.close()


def _sit_in(
    pool: ProcessPoolExecutor, jobs: Iterable[_J], sit: Sit[_J], ahead: int
) -> Iterator[str | None]:
    waiting = iter(jobs)
    pending: set[Future[_Outcome]] = set()
    while True:
        fresh = islice(waiting, ahead - len(pending))
        with _interrupts_ignored():  # processes that begin now inherit it
            pending |= {pool.submit(_sit_there, sit, job) for job in fresh}
        if not pending:
            return
        done, pending = wait(pending, return_when=FIRST_COMPLETED)
        for future in done:
            outcome = future.result()
            if outcome.spoiled is not None:
                raise TaskShieldError(outcome.spoiled)
            yield outcome.line


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """The parent ends its workers itself; they are not to hear of Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


_shield: Shield | None = None
"""The shield of this process."""


def _begin(plan: ShieldPlan) -> None:
    """Get a worker process ready."""
    global _shield
    remember_addresses()
    gc.freeze()  # what is imported by now will not be garbage
    _shield = plan.build()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """What comes back from a worker: text, which always travels between processes."""

    line: str | None = None
    spoiled: str | None = None
    """Why no run can succeed."""


def _sit_there(sit: Sit[_J], job: _J) -> _Outcome:
    """Run one job in a worker."""
    try:
        return _Outcome(line=_line(sit(job, _shield)))
    except TaskShieldError as error:
        return _Outcome(spoiled=str(error))


def _line(run: BenchmarkRun | None) -> str | None:
    return None if run is None else record_files.line(run)
