"""Work in child processes, each of which may be ended by the system when it takes too long."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, NamedTuple, TypeVar, cast

Task = TypeVar("Task", bound=Hashable)
Tell = Callable[[object], None]


class Outcome(NamedTuple, Generic[Task]):
    """What became of a task."""

    task: Task
    answer: Any
    """None where the process was ended."""
    told: Any
    """What it told last of its progress."""


def outcomes(
    tasks: Sequence[Task], work: Callable[[Task, Tell], object], jobs: int
) -> Iterator[Outcome[Task]]:
    """Do each task in a process of its own, as many at once as there are jobs.

    Args:
        tasks: In the order in which they begin.
        work: Gets a task, and a function that tells its progress. It cannot answer None.
        jobs: The number of processes.
    """
    context = get_context("fork")  # a child has all that was imported
    waiting = list(reversed(tasks))
    running: dict[Connection, tuple[Any, Task, object]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            task = waiting.pop()
            receiver, sender = context.Pipe(duplex=False)
            child = context.Process(target=_run, args=(work, task, sender))
            child.start()
            sender.close()
            running[receiver] = (child, task, None)
        for receiver in cast(list[Connection], wait(list(running))):
            child, task, told = running[receiver]
            try:
                done, value = receiver.recv()
            except EOFError:
                done, value = True, None
            if not done:
                running[receiver] = (child, task, value)
                continue
            del running[receiver]
            receiver.close()
            child.join()
            yield Outcome(task, value, told)


def _run(work: Callable[[Task, Tell], object], task: Task, sender: Connection) -> None:
    sender.send((True, work(task, lambda told: sender.send((False, told)))))
