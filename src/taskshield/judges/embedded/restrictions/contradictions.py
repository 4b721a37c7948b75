"""Compares a call with everything that the user restricted."""

from collections.abc import Iterable, Iterator, Sequence

from taskshield.core import deadline
from taskshield.core.assessments import Contradiction
from taskshield.core.instructions import Task
from taskshield.core.judge import HistoryEntry
from taskshield.judges.embedded.restrictions import (
    acts,
    amounts,
    lists,
    near_values,
    objects,
    recipients,
    times,
)
from taskshield.judges.embedded.restrictions.act import Act
from taskshield.judges.embedded.restrictions.found import Found, Scene
from taskshield.judges.embedded.restrictions.index import RestrictionIndex

_CHECKS = (
    acts.check,
    amounts.check,
    near_values.check,
    objects.check,
    lists.check,
    recipients.check,
    times.check,
)
_MOST = 3
"""Contradictions of one call that are told."""


def find_contradictions(
    act: Act,
    index: RestrictionIndex,
    history: Sequence[HistoryEntry] = (),
    *,
    delegated: bool = False,
) -> list[Found]:
    """What a call does against the user's words; nothing where that is not certain.

    Args:
        act: The call.
        index: The conversation before it.
        history: The same, with the calls that were made.
        delegated: Whether the user's newest message hands over to a source, whose data then say
            to what and to whom. What the user forbids and limits holds all the same.
    """
    if not index.said:
        return []
    scene = Scene(act, index, delegated)
    found: list[Found] = []
    for check in _CHECKS:
        deadline.check()
        found.extend(check(scene))
    return found or list(acts.check_again(scene, history))


def contradictions(found: Iterable[Found], tasks: Iterable[Task]) -> tuple[Contradiction, ...]:
    """The same for the decision, each with the task whose words rule the call out."""
    known = tuple(tasks)
    if not known:
        return ()
    told: dict[tuple[str, str], Contradiction] = {}
    for one in (one for one in found if one.said):
        told.setdefault(
            (one.kind, one.said),
            Contradiction(target=_task(one, known), kind=one.kind, said=one.said, does=one.does),
        )
    return tuple(told.values())[:_MOST]


def _task(found: Found, tasks: tuple[Task, ...]) -> str:
    """The task that has the words; else the last of their message, or the last before it."""
    earlier = [one for one in tasks if one.instruction.origin.message <= found.message]
    same = [one for one in earlier if one.instruction.origin.message == found.message]
    quoting: Iterator[Task] = (one for one in same if found.said in one.text)
    return next(quoting, (same or earlier or list(tasks))[-1]).id
