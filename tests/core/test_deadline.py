import asyncio
import threading

import pytest

from taskshield.core import deadline
from taskshield.core.deadline import DeadlinePassed
from tests.engine.sessions import run


def endless() -> None:
    while True:
        deadline.check()


def test_without_a_deadline_work_goes_on() -> None:
    deadline.check()
    with deadline.within(60):
        deadline.check()
    deadline.check()


def test_work_ends_when_its_time_is_over() -> None:
    with pytest.raises(DeadlinePassed), deadline.within(0.01):
        endless()
    deadline.check()


def test_an_inner_deadline_is_never_later_than_the_outer_one() -> None:
    with pytest.raises(DeadlinePassed), deadline.within(0.01), deadline.within(60):
        endless()


def test_a_thread_ends_once_its_caller_does_not_wait_any_more() -> None:
    ended = threading.Event()

    def work() -> None:
        try:
            endless()
        except DeadlinePassed:
            ended.set()

    async def given_up() -> None:
        with deadline.within(600):
            working = asyncio.create_task(asyncio.to_thread(work))
            await asyncio.sleep(0)
        deadline.check()
        await working

    run(given_up())
    assert ended.is_set()


def test_items_are_given_as_long_as_there_is_time() -> None:
    given = deadline.checked(range(3))
    assert next(given) == 0
    with deadline.within(0), pytest.raises(DeadlinePassed):
        next(given)
