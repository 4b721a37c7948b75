"""Replays in processes of this machine.

Each process makes one shield and keeps it. Results come back in the order of the log, however many
processes there are: what is written is always the same, and an interrupted audit knows where to go
on.
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
"""Entries that wait for each worker, so that none idles and none piles up in memory."""


def check_all(entries: Iterable[Entry], plan: Plan, *, workers: int) -> Generator[Result]:
    """What becomes of all entries, in their order.

    Raises:
        TaskShieldError: A setting is wrong, or a worker died.
    """
    if workers == 1:
        with Checker(plan) as checker:
            for entry in entries:
                yield checker.check(entry)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(plan,))
    try:
        with _interrupts_ignored():  # a process begins with each job, and inherits it
            for _ in range(workers):
                pool.submit(_ready)
        yield from _in_order(pool, entries, workers * _AHEAD)
    except BrokenProcessPool:
        raise TaskShieldError("a worker process died; fewer of them need less memory") from None
    finally:
        pool.shutdown(cancel_futures=True)


def _in_order(pool: ProcessPoolExecutor, entries: Iterable[Entry], ahead: int) -> Iterator[Result]:
    pending: deque[Future[Result]] = deque()
    for entry in entries:
        pending.append(pool.submit(_check, entry))
        if len(pending) >= ahead:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """The parent ends its workers itself; they are not to hear of Ctrl-C.

    Only for a moment, because one that comes meanwhile is lost.
    """
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


_checker: Checker | None = None
"""Of this process."""


def _begin(plan: Plan) -> None:
    """Get a worker process ready."""
    global _checker
    _checker = Checker(plan)


def _ready() -> None:
    """A job that is nothing to do."""


def _check(entry: Entry) -> Result:
    assert _checker is not None
    return _checker.check(entry)
