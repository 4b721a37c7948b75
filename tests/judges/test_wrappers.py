"""Cache, timeout and budget: judges around judges."""

import asyncio

import pytest

from taskshield.core.assessments import Assessment, TaskAssessment, TaskDraft
from taskshield.core.errors import (
    JudgeBudgetExceeded,
    JudgeOutputInvalid,
    JudgeTimeout,
    JudgeUnavailable,
)
from taskshield.core.instructions import Instruction, Origin, Task, TaskSet
from taskshield.core.judge import HistoryEntry, Judge, SessionView
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text, ToolCall, text_message
from taskshield.core.usage import NO_USAGE, Usage
from taskshield.judges.budget import BudgetJudge
from taskshield.judges.cache import CachedJudge
from taskshield.judges.timeout import TimedJudge
from tests.judging import TableJudge

USER = text_message(Level.USER, "go")
STEP = text_message(Level.ASSISTANT, "going")
VIEW = SessionView()


def ask(judge: Judge, *messages: Message, view: SessionView = VIEW) -> list[Assessment]:
    async def asked() -> list[Assessment]:
        return [await judge.assess(message, view) for message in messages]

    return asyncio.run(asked())


@pytest.mark.parametrize(
    "wrap",
    [
        lambda judge: CachedJudge(judge, entries=1),
        lambda judge: TimedJudge(judge, seconds=60),
        lambda judge: BudgetJudge(judge),
    ],
)
def test_a_wrapper_is_a_judge_like_the_one_inside(wrap) -> None:  # type: ignore[no-untyped-def]
    inner = TableJudge()
    wrapper: Judge = wrap(inner)
    assert wrapper.name == "table"

    async def use() -> None:
        assert await wrapper.tasks(USER, VIEW) == await inner.tasks(USER, VIEW)
        assert await wrapper.assess(STEP, VIEW) == await inner.assess(STEP, VIEW)
        await wrapper.aclose()

    asyncio.run(use())
    assert inner.closed


def test_the_cache_answers_the_same_question_once() -> None:
    inner = TableJudge()
    first, second = ask(CachedJudge(inner, entries=8), STEP, STEP)
    assert len(inner.seen) == 1
    assert second.items == first.items
    assert (first.trace.cached, second.trace.cached) == (False, True)
    assert first.trace.usage.calls == 1 and second.trace.usage == NO_USAGE


def test_the_cache_distinguishes_views_and_messages() -> None:
    inner = TableJudge()
    judge = CachedJudge(inner, entries=8)
    ask(judge, STEP, text_message(Level.TOOL, "going"), text_message(Level.ASSISTANT, "gone"))
    ask(judge, STEP, view=SessionView(answered=None, tiers={}, tools={"x": None}))  # type: ignore[dict-item]
    assert len(inner.seen) == 4


def test_the_cache_ignores_call_ids_and_restores_them() -> None:
    inner = TableJudge(score=lambda text, task: float("good" in text))
    judge = CachedJudge(inner, entries=8)

    def asked(first: str, second: str, *, refused: str) -> Assessment:
        past = Message(level=Level.ASSISTANT, tool_calls=(call(first, "old"), call(second, "old")))
        output = Message(level=Level.TOOL, parts=(Text(text="x"),), answers=first)
        view = SessionView(
            tasks=TASKS,
            history=(
                HistoryEntry(message=past, refused=frozenset({refused})),
                HistoryEntry(message=output),
            ),
            answered=call(first, "old"),
        )
        step = (call(f"new {first}", "good"), call(f"new {second}", "bad"))
        return ask(judge, Message(level=Level.ASSISTANT, tool_calls=step), view=view)[0]

    one = asked("a", "b", refused="b")
    two = asked("x", "y", refused="y")
    assert len(inner.seen) == 1 and two.trace.cached
    assert [item.call_id for item in one.items] == ["new a", "new b"]
    assert [item.call_id for item in two.items] == ["new x", "new y"]
    assert [item.scores[0].value for item in two.items] == [1, 0]
    asked("x", "y", refused="x")
    assert len(inner.seen) == 2


def call(id: str, arguments: str) -> ToolCall:
    return ToolCall(id=id, name="f", arguments=arguments)


TASKS = TaskSet(
    tasks=(
        Task(
            id="t1",
            instruction=Instruction(text="go", level=Level.USER, origin=Origin(message=0)),
        ),
    )
)


def test_the_cache_distinguishes_which_call_an_output_answers() -> None:
    inner = TableJudge()
    judge = CachedJudge(inner, entries=8)
    past = Message(level=Level.ASSISTANT, tool_calls=(call("a", "1"), call("b", "2")))
    for answers in ("a", "b"):
        output = Message(level=Level.TOOL, parts=(Text(text="x"),), answers=answers)
        ask(
            judge,
            STEP,
            view=SessionView(history=(HistoryEntry(message=past), HistoryEntry(message=output))),
        )
    assert len(inner.seen) == 2


def test_the_cache_of_a_judge_of_the_recent_past_does_not_care_about_the_rest() -> None:
    def turn(number: int) -> HistoryEntry:
        calls = (call(f"{number}", f"{number:04}"),)
        return HistoryEntry(message=Message(level=Level.ASSISTANT, tool_calls=calls))

    for tokens, asked in ((None, 2), (100, 1), (1_000, 2)):
        inner = TableJudge()
        judge = CachedJudge(inner, entries=8, history_tokens=tokens)
        for begin in (0, 5):
            history = tuple(turn(number) for number in range(begin, 9))
            ask(judge, STEP, view=SessionView(history=history))
            assert len(inner.views[-1].history) >= 4
        assert len(inner.seen) == asked


def test_the_cache_remembers_tasks_until_it_is_closed() -> None:
    inner = TableJudge()
    judge = CachedJudge(inner, entries=8)

    async def use() -> None:
        first, second = [await judge.tasks(USER, VIEW) for _ in range(2)]
        assert first.tasks == second.tasks and len(inner.seen) == 1
        assert (first.trace.cached, second.trace.cached) == (False, True)
        await judge.assess(STEP, VIEW)
        await judge.aclose()
        await judge.tasks(USER, VIEW)
        await judge.assess(STEP, VIEW)
        assert len(inner.seen) == 4

    asyncio.run(use())


def test_the_cache_forgets_the_least_recently_used() -> None:
    inner = TableJudge()
    judge = CachedJudge(inner, entries=2)
    one, two, three = (text_message(Level.ASSISTANT, word) for word in ("one", "two", "three"))
    ask(judge, one, two, one, three, one)
    assert len(inner.seen) == 3
    ask(judge, two)
    assert len(inner.seen) == 4


def test_the_cache_does_not_remember_failures() -> None:
    inner = TableJudge(error=JudgeUnavailable("down"))
    judge = CachedJudge(inner, entries=2)
    with pytest.raises(JudgeUnavailable):
        ask(judge, STEP)
    inner.error = None
    assert len(ask(judge, STEP)) == 1


def test_the_cache_does_not_remember_a_verdict_that_is_not_full() -> None:
    inner = TableJudge(drafts=lambda text: [TaskDraft(text=" ")], epsilon=float("nan"))
    inner.directives = lambda text: ["go"]
    judge = CachedJudge(inner, entries=2)
    for _ in range(2):
        with pytest.raises(JudgeOutputInvalid) as caught:
            asyncio.run(judge.tasks(USER, VIEW))
        assert caught.value.usage.calls == 1
        with pytest.raises(JudgeOutputInvalid):
            ask(judge, STEP)
    assert len(inner.seen) == 4


def test_a_judge_that_takes_too_long_is_an_outage() -> None:
    class Slow(TableJudge):
        async def tasks(self, message: Message, view: SessionView) -> TaskAssessment:
            await asyncio.sleep(60)
            raise AssertionError

        async def assess(self, message: Message, view: SessionView) -> Assessment:
            await asyncio.sleep(60)
            raise AssertionError

    judge = TimedJudge(Slow(), seconds=0.01)
    with pytest.raises(JudgeTimeout, match="within 0.01 s") as caught:
        ask(judge, STEP)
    assert caught.value.usage.calls == 1
    with pytest.raises(JudgeTimeout):
        asyncio.run(judge.tasks(USER, VIEW))


def test_the_budget_of_calls_is_an_outage_once_used_up() -> None:
    judge = BudgetJudge(TableJudge(), calls=2)
    ask(judge, STEP, STEP)
    with pytest.raises(JudgeBudgetExceeded, match="2 model calls"):
        ask(judge, STEP)
    assert judge.spent == Usage(calls=2, prompt_tokens=20, completion_tokens=10)


def test_reading_tasks_is_counted_in_the_budget_too() -> None:
    judge = BudgetJudge(TableJudge(), calls=1)
    asyncio.run(judge.tasks(USER, VIEW))
    assert judge.spent.calls == 1
    with pytest.raises(JudgeBudgetExceeded):
        ask(judge, STEP)


def test_the_budget_of_tokens_counts_failed_checks_too() -> None:
    failing = TableJudge(error=JudgeUnavailable("down", usage=Usage(prompt_tokens=100)))
    judge = BudgetJudge(failing, tokens=100)
    with pytest.raises(JudgeUnavailable):
        ask(judge, STEP)
    with pytest.raises(JudgeBudgetExceeded, match="100 tokens"):
        asyncio.run(judge.tasks(USER, VIEW))


def test_very_long_answers_are_not_cached() -> None:
    inner = TableJudge(drafts=lambda text: [TaskDraft(text=text * 20_000)])
    judge = CachedJudge(inner, entries=8)
    for _ in range(2):
        asyncio.run(judge.tasks(USER, VIEW))
    assert len(inner.seen) == 2
