"""The tasks of a session that never ends, in bounded space.

Every decision holds all tasks, so that it can be explained and replayed. What the user said stays
in the history word for word; here the oldest tasks become one.
"""

from dataclasses import replace

from taskshield.core.instructions import Origin, Task, TaskSet
from taskshield.core.quotations import shorten

_MOST = 128
"""Tasks of a session. Beyond that, the oldest half becomes one task."""
_LONGEST = 16_000
"""Bytes of one task; a longer one loses its middle."""
_ALL = 64_000
"""Bytes of all tasks. Beyond that, the oldest half becomes one task."""


def bounded(tasks: TaskSet) -> TaskSet:
    """The same tasks, in bounded space."""
    kept = tuple(map(_shortened, tasks))
    while len(kept) > 1 and (len(kept) > _MOST or sum(len(task.text) for task in kept) > _ALL):
        half = len(kept) // 2 + 1
        kept = (_joined(kept[:half]), *kept[half:])
    return replace(tasks, tasks=kept)


def _shortened(task: Task) -> Task:
    text = shorten(task.text, _LONGEST)
    if text is task.text:
        return task
    return replace(task, instruction=replace(task.instruction, text=text))


def _joined(tasks: tuple[Task, ...]) -> Task:
    """Old tasks as one. What the user delegated so long ago has to be said again."""
    newest = tasks[-1]
    text = shorten("\n".join(task.text for task in tasks), _LONGEST)
    origin = Origin(message=newest.instruction.origin.message)
    return Task(id=newest.id, instruction=replace(newest.instruction, text=text, origin=origin))
