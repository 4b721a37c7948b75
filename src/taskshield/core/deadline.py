"""When work has to end that nothing can stop from outside: a thread looks at the clock itself.

The caller that waits sets the deadline with `within`; loops over untrusted text call `check`. A
deadline belongs to the context, so threads that are started with a copy of it have it.
"""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")


class DeadlinePassed(TimeoutError):
    """The work took too long, or its caller does not wait any more."""


class _Deadline:
    """A time after which work ends at its next step."""

    __slots__ = ("at",)

    def __init__(self, at: float) -> None:
        self.at = at


_NEVER = _Deadline(float("inf"))
_current: ContextVar[_Deadline] = ContextVar("taskshield_deadline", default=_NEVER)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Give the work in here so much time, or less where it has less already.

    After the end of this block, what still runs of the work ends at its next step.
    """
    deadline = _Deadline(min(time.monotonic() + seconds, _current.get().at))
    token = _current.set(deadline)
    try:
        yield
    finally:
        deadline.at = 0.0
        _current.reset(token)


def check() -> None:
    """Go on, if there is time left.

    Raises:
        DeadlinePassed: There is none.
    """
    if time.monotonic() > _current.get().at:
        raise DeadlinePassed


def checked(items: Iterable[Item]) -> Iterator[Item]:
    """Give the same items, as long as there is time left.

    Raises:
        DeadlinePassed: There is none.
    """
    for item in items:
        check()
        yield item
