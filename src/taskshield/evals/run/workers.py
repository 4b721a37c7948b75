"""Many runs at once, in processes of their own.

Each process makes one shield and keeps it. Runs come back in the order in which they end.
"""

import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from taskshield.api.shields import Shield
from taskshield.core.errors import TaskShieldError
from taskshield.evals.exam.dojo import remember_addresses
from taskshield.evals.records import NO_DEFENCE, Run

_J = TypeVar("_J")

_AHEAD = 4
"""Jobs that wait for each worker, so that none idles and none piles up in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShieldPlan:
    """How each process makes its shield."""

    judge: str | None = NO_DEFENCE
    """None takes the judge of the settings."""
    base_url: str | None = None
    config: str | None = None

    def build(self) -> Shield | None:
        """The shield; None for no defence.

        Raises:
            ConfigError: A setting is wrong.
        """
        if self.judge == NO_DEFENCE:
            return None
        return Shield(self.judge, base_url=self.base_url, config=self.config)


Sit = Callable[[_J, Shield | None], Run | None]
"""Runs one job; None where there is nothing to run. It must be a function of a module."""


def sit_all(
    jobs: Iterable[_J], sit: Sit[_J], plan: ShieldPlan, *, workers: int
) -> Iterator[Run | None]:
    """Run all jobs: for each its run, or None where there was nothing to run.

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
        raise TaskShieldError("a worker process died; fewer --workers need less memory") from None
    finally:
        pool.shutdown(cancel_futures=True)


def _sit_here(jobs: Iterable[_J], sit: Sit[_J], plan: ShieldPlan) -> Iterator[Run | None]:
    shield = plan.build()
    try:
        for job in jobs:
            yield sit(job, shield)
    finally:
        if shield is not None:
            shield.close()


def _sit_in(
    pool: ProcessPoolExecutor, jobs: Iterable[_J], sit: Sit[_J], ahead: int
) -> Iterator[Run | None]:
    waiting = iter(jobs)
    pending: set[Future[Run | None | str]] = set()
    while True:
        fresh = islice(waiting, ahead - len(pending))
        pending |= {pool.submit(_sit_there, sit, job) for job in fresh}
        if not pending:
            return
        done, pending = wait(pending, return_when=FIRST_COMPLETED)
        for future in done:
            run = future.result()
            if isinstance(run, str):
                raise TaskShieldError(run)
            yield run


_shield: Shield | None = None
"""The shield of this process."""


def _begin(plan: ShieldPlan) -> None:
    """Get a worker process ready."""
    global _shield
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers itself
    remember_addresses()
    _shield = plan.build()


def _sit_there(sit: Sit[_J], job: _J) -> Run | None | str:
    """Run one job in a worker; what spoils the exam comes back as text, which always travels."""
    try:
        return sit(job, _shield)
    except TaskShieldError as error:
        return str(error)
