"""All networks of a course, taught and asked: what a GPU is needed for."""

from typing import NamedTuple

from taskshield.training import weighing
from taskshield.training.course import (
    Course,
    Log,
    check_kept,
    examine_folds,
    examine_foreign,
    examine_kept,
    final_network,
    teach_ahead,
)
from taskshield.training.folds import Findings
from taskshield.training.network import Network


class Answers(NamedTuple):
    """What the networks of a course say."""

    folds: list[Findings]
    kept: Findings | None
    foreign: Findings | None
    network: Network
    """The one to ship."""


def taught(course: Course, log: Log) -> Answers:
    """All networks taught and asked, as far as that is not done; all of it stays in the folder."""
    check_kept(course)
    course.out.mkdir(parents=True, exist_ok=True)
    if course.at_once > 1:
        teach_ahead(course, log)
    folds = examine_folds(course, log)
    limits = weighing.tag_limits(weighing.stacked_tags(folds))
    return Answers(
        folds,
        examine_kept(course, log),
        examine_foreign(course, limits, log),
        final_network(course, log),
    )
