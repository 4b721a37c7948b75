"""Shields for tests: judges that know the answers, and judges that know nothing."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

from taskshield import Shield
from taskshield_lab.bench.agentdojo import attack_placement
from taskshield_lab.bench.agentdojo.suites import InjectionTask, Suite, environment
from tests.judging import TableJudge


@contextmanager
def all_knowing(suite: Suite, goal: InjectionTask, **settings: object) -> Iterator[Shield]:
    """A shield that holds back the attacker's calls, and finds his words in tool output."""
    moves = attack_placement.moves(goal.ground_truth(environment(suite, {})))
    calls = [f"{move.tool}({json.dumps(move.arguments, ensure_ascii=False)})" for move in moves]

    def score(instruction: str, task: str) -> float:
        return float(instruction != goal.GOAL and instruction not in calls)

    judge = TableJudge(
        score=score, directives=lambda text: [goal.GOAL] if goal.GOAL in text else []
    )
    with Shield(judge, **settings) as shield:  # type: ignore[arg-type]
        yield shield
