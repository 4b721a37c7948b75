"""Replays conversations in processes of this machine.

Each process makes one shield and keeps it. Results arrive in the order of the log for any number of
processes, so the files are always the same, and an interrupted audit can be resumed.
"""

import multiprocessing
import signal
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from taskshield.audit.logs.entries import Entry
from taskshield.audit.replay.checker import Checker, Plan
from taskshield.audit.results.outcomes import Result
from taskshield.core.errors import TaskShieldError

_AHEAD = 8
"""Entries queued for each worker. No worker idles, and few results wait in memory."""


def check_all(entries: Iterable[Entry], plan: Plan, *, workers: int) -> Generator[Result]:
    """The results of all entries, in order.

    Raises:
        TaskShieldError: A setting is wrong, or a worker died.
    """
    if workers == 1:
        with Checker(plan) as checker:
            for entry in entries:
                yield checker.check(entry)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, context, initializer=_initialise, initargs=(plan,))
    try:
        with _interrupts_ignored():  # a process starts with each job, and inherits it
            for _ in range(workers):
                pool.submit(_ready)
        yield from _in_order(pool, entries, workers * _AHEAD)
    except BrokenProcessPool:
        raise TaskShieldError(
            "A worker process ended unexpectedly. If memory is short, use fewer --workers."
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _in_order(pool: ProcessPoolExecutor, entries: Iterable[Entry], limit: int) -> Iterator[Result]:
    pending: deque[Future[Result]] = deque()
    for entry in entries:
        pending.append(pool.submit(_check, entry))
        if len(pending) >= limit:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Workers ignore Ctrl-C. This process ends them itself.

    The block must be short, because a Ctrl-C inside it is lost.
    """
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


_checker: Checker | None = None
"""The checker of this process."""


def _initialise(plan: Plan) -> None:
    """Prepare a worker process."""
    global _checker
    _checker = Checker(plan)


def _ready() -> None:
    """An empty job, which starts a process."""


def _check(entry: Entry) -> Result:
    assert _checker is not None
    return _checker.check(entry)
