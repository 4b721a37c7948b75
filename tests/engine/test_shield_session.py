"""The session as a whole: counting, concurrency, timing."""

import asyncio

import pytest

from taskshield.core.assessments import Assessment, TaskAssessment
from taskshield.core.decisions import Decision
from taskshield.core.judge import SessionView
from taskshield.core.messages import Message
from taskshield.core.usage import Usage
from tests.engine.sessions import run, session
from tests.judging import TableJudge


def test_every_decision_is_reported_and_counted() -> None:
    seen: list[Decision] = []
    conversation = session(on_decision=seen.append)
    decisions = [run(conversation.user("go")), run(conversation.tool_call("read_file", {}))]
    decisions.append(run(conversation.tool_output(decisions[1].calls[0].call.id, "")))
    assert seen == decisions
    counters = conversation.state.counters
    assert (counters.executed, counters.skipped, counters.failed) == (2, 1, 0)
    assert conversation.state.usage == Usage(calls=2, prompt_tokens=20, completion_tokens=10)
    assert conversation.state.messages == 3
    assert [turn.index for turn in conversation.state.history] == [0, 1, 2]


def test_checks_of_one_session_run_side_by_side_but_wait_for_the_user() -> None:
    judge = TableJudge()
    order: list[str] = []

    class Slow(TableJudge):
        async def tasks(self, message: Message, view: SessionView) -> TaskAssessment:
            await asyncio.sleep(0.02)
            order.append("user")
            return await judge.tasks(message, view)

        async def assess(self, message: Message, view: SessionView) -> Assessment:
            order.append("begin")
            await asyncio.sleep(0.02)
            order.append("end")
            return await judge.assess(message, view)

    async def talk() -> list[Decision]:
        conversation = session(Slow())
        return list(
            await asyncio.gather(
                conversation.user("go"),
                conversation.tool_call("read_file", {"path": "a"}),
                conversation.tool_call("read_file", {"path": "b"}),
            )
        )

    decisions = asyncio.run(talk())
    assert order == ["user", "begin", "begin", "end", "end"]
    assert all(decision.allowed for decision in decisions)
    assert sorted(decision.case.index for decision in decisions) == [0, 1, 2]


def test_a_verdict_from_before_the_user_spoke_is_not_applied_after() -> None:
    judge = TableJudge(score=lambda text, task: float("pay" in task and "not" not in task))
    asked = asyncio.Event()
    answer = asyncio.Event()

    class Slow(TableJudge):
        async def assess(self, message: Message, view: SessionView) -> Assessment:
            asked.set()
            await answer.wait()
            judge.score = lambda text, task: float(len(view.tasks) == 1)
            return await judge.assess(message, view)

    async def talk() -> Decision:
        conversation = session(Slow())
        await conversation.user("pay bob")
        check = asyncio.create_task(conversation.tool_call("send_money", {"to": "bob"}))
        await asked.wait()
        await conversation.user("stop, do not pay")
        answer.set()
        return await check

    decision = asyncio.run(talk())
    assert not decision.allowed and len(decision.case.tasks) == 2
    assert decision.case.trace.usage.calls == 2


def test_a_decision_says_how_long_its_check_took(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([1.0, 1.25])
    monkeypatch.setattr("taskshield.engine.session.time.perf_counter", lambda: next(clock))
    assert run(session().user("go")).elapsed_ms == 250
