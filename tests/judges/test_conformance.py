"""What every judge must do, whatever it is made of. New judges are added to the list."""

import asyncio
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskshield.core.assessments import Assessment, TaskAssessment
from taskshield.core.completeness import check_assessment
from taskshield.core.errors import JudgeUnavailable
from taskshield.core.instructions import (
    Instruction,
    Objective,
    Origin,
    TaintedDirective,
    Task,
    TaskSet,
)
from taskshield.core.judge import Judge, SessionView
from taskshield.core.judge_options import CascadeOptions, JudgeOptions
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text, ToolCall, text_message
from taskshield.judges import baselines
from taskshield.judges.budget import BudgetJudge
from taskshield.judges.cache import CachedJudge
from taskshield.judges.cascade import CascadeJudge
from taskshield.judges.llm.judge import LLMJudge
from taskshield.judges.timeout import TimedJudge
from tests.judging import TableJudge
from tests.model import Found, Rules

RULES = Rules(
    directives={"do": [Found(quote="do"), Found(quote="nowhere to be found")]},
    serves=lambda text, task: 0.5,
    explains=lambda text, tainted: 0.25,
)
JUDGES: dict[str, Callable[[], Judge]] = {
    "llm, batched": lambda: LLMJudge(RULES.client()),
    "llm, per instruction": lambda: LLMJudge(RULES.client(), scheme="per_instruction"),
    "cached": lambda: CachedJudge(LLMJudge(RULES.client()), entries=4),
    "timed": lambda: TimedJudge(LLMJudge(RULES.client()), seconds=60),
    "budgeted": lambda: BudgetJudge(LLMJudge(RULES.client()), calls=10_000),
    "cascade": lambda: CascadeJudge(
        TableJudge(name="first", score=lambda text, task: 0.4, epsilon=0.5),
        LLMJudge(RULES.client()),
    ),
    "cascade, nothing clear": lambda: CascadeJudge(
        TableJudge(name="first"), LLMJudge(RULES.client()), CascadeOptions(read_tasks="llm")
    ),
    "cascade, second out": lambda: CascadeJudge(
        TableJudge(name="first", score=lambda text, task: 0.4, epsilon=0.5),
        TableJudge(name="second", error=JudgeUnavailable("down")),
    ),
    "allow all": lambda: baselines.allow_all(JudgeOptions()),
    "block side effects": lambda: baselines.block_side_effects(JudgeOptions()),
    "the engine tests' own": TableJudge,
}


def spoke(reading: Assessment | TaskAssessment, judge: Judge) -> bool:
    """Whether the reading names the judge, or one of those that it is made of."""
    return reading.trace.judge.partition(" (")[0] in judge.name


TEXTS = st.one_of(st.just("please do it"), st.text(max_size=30))


@st.composite
def views(draw: st.DrawFn) -> SessionView:
    def instructions(level: Level) -> list[Instruction]:
        texts = draw(st.lists(TEXTS, max_size=3))
        return [Instruction(text=text, level=level, origin=Origin(message=0)) for text in texts]

    tasks = enumerate(instructions(Level.USER), start=1)
    objectives = enumerate(instructions(Level.SYSTEM), start=1)
    tainted = enumerate(instructions(Level.TOOL), start=1)
    return SessionView(
        tasks=TaskSet(tasks=tuple(Task(id=f"t{n}", instruction=each) for n, each in tasks)),
        objectives=tuple(Objective(id=f"o{n}", instruction=each) for n, each in objectives),
        tainted=tuple(TaintedDirective(id=f"d{n}", instruction=each) for n, each in tainted),
    )


@st.composite
def steps(draw: st.DrawFn) -> Message:
    ids = draw(st.lists(st.sampled_from(["a", "t1", "o1", "d1", "item:a"]), unique=True))
    calls = tuple(ToolCall(id=id, name=draw(TEXTS), arguments=draw(TEXTS)) for id in ids)
    return Message(level=Level.ASSISTANT, parts=(Text(text=draw(TEXTS)),), tool_calls=calls)


OUTPUTS = TEXTS.map(lambda text: text_message(Level.TOOL, text))


@pytest.mark.parametrize("make", JUDGES.values(), ids=JUDGES.keys())
@given(message=st.one_of(steps(), OUTPUTS), view=views())
def test_a_reading_is_a_full_verdict(
    make: Callable[[], Judge], message: Message, view: SessionView
) -> None:
    judge = make()
    reading = asyncio.run(judge.assess(message, view))
    check_assessment(reading, message, view)
    assert spoke(reading, judge)
    for item in reading.items:
        if item.span is not None:
            assert 0 <= item.span.start <= item.span.end <= len(message.text)


@pytest.mark.parametrize("make", JUDGES.values(), ids=JUDGES.keys())
@pytest.mark.parametrize("level", [Level.USER, Level.SYSTEM])
def test_tasks_are_read_with_a_trace(make: Callable[[], Judge], level: Level) -> None:
    judge = make()
    reading = asyncio.run(judge.tasks(text_message(level, "please do it"), SessionView()))
    assert spoke(reading, judge)
    assert reading.trace.usage.calls <= 1
    assert all(draft.text for draft in (*reading.tasks, *reading.objectives))
    assert bool(reading.tasks) is (level is Level.USER)


@pytest.mark.parametrize("make", JUDGES.values(), ids=JUDGES.keys())
def test_a_judge_can_be_closed(make: Callable[[], Judge]) -> None:
    asyncio.run(make().aclose())
