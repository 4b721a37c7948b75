import asyncio

import pytest

from taskshield.core.errors import ConversationError, JudgeUnavailable, StoreConflict, StoreError
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall
from taskshield.server.http.errors import RequestError
from taskshield.server.sessions.judgement import CheckResult
from taskshield.stores.memory import MemoryStore
from tests.engine.sessions import run
from tests.judging import TableJudge
from tests.server.sessions.stored_sessions import (
    HERE,
    in_library,
    one_by_one,
    records,
)
from tests.server.stage import (
    HIJACKED,
    TENANT,
    TOOLS,
    Failing,
    call,
    checker,
    outcome,
    user,
)


def test_decisions_are_those_of_the_library_and_each_is_stored() -> None:
    async def work() -> None:
        store = MemoryStore()
        one = checker(store)
        decisions = await one_by_one(lambda number: one, HIJACKED.messages)
        assert outcome(decisions) == outcome(await in_library(HIJACKED.messages))
        assert [each.action for each in decisions] == [
            "allow", "allow", "annotate", "revise", "allow",
        ]  # fmt: skip
        found = await records(store)
        assert [each.id for each in found] == [each.id for each in decisions]
        assert [each.tier and each.tier.value for each in found] == [
            None, "read", None, "financial", "write",
        ]  # fmt: skip
        assert {each.surface for each in found} == {"test"}

    run(work())


def test_messages_sent_together_are_judged_like_messages_sent_one_by_one() -> None:
    async def work() -> None:
        together = checker()
        await together.create_session(TENANT, id="s", tools=TOOLS)
        checked = await together.check(TENANT, "s", HIJACKED.messages, source=HERE)
        assert outcome(checked.decisions) == outcome(await in_library(HIJACKED.messages))
        assert checked.new == 5

    run(work())


def test_replicas_that_take_turns_decide_like_one() -> None:
    async def work() -> None:
        store = MemoryStore()
        replicas = [checker(store), checker(store)]
        decisions = await one_by_one(lambda number: replicas[number % 2], HIJACKED.messages)
        assert outcome(decisions) == outcome(await in_library(HIJACKED.messages))

    run(work())


def test_sessions_that_left_the_cache_are_read_again() -> None:
    async def work() -> None:
        forgetful = checker(cached=1)
        await forgetful.create_session(TENANT, id="other")
        await one_by_one(lambda number: forgetful, HIJACKED.messages[:2])
        await forgetful.check(TENANT, "other", [user()], source=HERE)
        checked = await forgetful.check(TENANT, "s", HIJACKED.messages[2:], source=HERE)
        expected = (await in_library(HIJACKED.messages))[2:]
        assert outcome(checked.decisions) == outcome(expected)

    run(work())


def test_concurrent_messages_of_a_session_are_all_judged_once() -> None:
    async def work() -> None:
        store = MemoryStore()
        replicas = [checker(store), checker(store)]
        await replicas[0].create_session(TENANT, id="s", tools=TOOLS)
        await replicas[0].check(TENANT, "s", [user()], source=HERE)
        await asyncio.gather(
            *(
                replicas[number % 2].check(TENANT, "s", [call(id=f"c{number}")], source=HERE)
                for number in range(6)
            )
        )
        assert [each.number for each in await records(store)] == list(range(7))
        snapshot = await replicas[0].finder.newest(TENANT, "s")
        assert (snapshot.state.messages, snapshot.state.counters.executed) == (7, 7)

    run(work())


def test_messages_are_judged_again_where_another_request_changed_the_session() -> None:
    async def work() -> None:
        store = Failing()
        one = checker(store)
        await one.create_session(TENANT, id="s")
        store.conflicts = 3
        checked = await one.check(TENANT, "s", [user()], source=HERE)
        assert [each.id for each in await records(store)] == [checked.decisions[0].id]

    run(work())


def test_a_session_that_changes_on_every_try_is_an_error() -> None:
    async def work() -> None:
        store = Failing()
        one = checker(store)
        await one.create_session(TENANT, id="s")
        store.conflicts = 1_000
        with pytest.raises(StoreConflict):
            await one.check(TENANT, "s", [user()], source=HERE)
        with pytest.raises(StoreConflict):
            await one.check_conversation(TENANT, HIJACKED, source=HERE)

    run(work())


def test_what_cannot_be_stored_did_not_happen() -> None:
    async def work() -> None:
        store = Failing()
        seen: list[CheckResult] = []
        one = checker(store, observe=lambda surface, checked: seen.append(checked))
        await one.create_session(TENANT, id="s", tools=TOOLS)
        await one.check(TENANT, "s", [user()], source=HERE)
        store.gone = True
        for _ in range(2):
            with pytest.raises(StoreError):
                await one.check(TENANT, "s", [call()], source=HERE)
        store.gone = False
        checked = await one.check(TENANT, "s", [call()], source=HERE)
        assert checked.decisions[0].case.index == 1
        assert [each.number for each in await records(store)] == [0, 1]
        assert sum(each.new for each in seen) == 2

    run(work())


def test_a_cancelled_request_does_not_lose_a_write_that_began() -> None:
    async def work() -> None:
        class Slow(MemoryStore):
            began = asyncio.Event()
            go_on = asyncio.Event()

            async def commit(self, *args: object, **more: object) -> None:
                self.began.set()
                await self.go_on.wait()
                await super().commit(*args, **more)  # type: ignore[arg-type]

        store = Slow()
        one = checker(store)
        asking = asyncio.create_task(one.check(TENANT, "s", [user()], source=HERE, start=True))
        await store.began.wait()
        asking.cancel()
        store.go_on.set()
        await one.aclose()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert len(await records(store)) == 1
        checked = await one.check(TENANT, "s", [call()], source=HERE)
        assert checked.decisions[0].case.index == 1

    run(work())


def test_all_messages_of_a_request_are_stored_or_none() -> None:
    twice = (ToolCall(id="c", name="a", arguments=""), ToolCall(id="c", name="b", arguments=""))

    async def work() -> None:
        store = MemoryStore()
        one = checker(store)
        await one.create_session(TENANT, id="s")
        broken = Message(level=Level.ASSISTANT, tool_calls=twice)
        with pytest.raises(ConversationError, match="message 1: Two tool calls"):
            await one.check(TENANT, "s", [user(), broken], source=HERE)
        assert await records(store) == []
        assert (await one.finder.newest(TENANT, "s")).state.messages == 0

    run(work())


def test_sessions_start_once_and_only_on_request() -> None:
    async def work() -> None:
        one = checker()
        with pytest.raises(RequestError, match="no such session"):
            await one.check(TENANT, "s", [user()], source=HERE)
        await one.check(TENANT, "s", [user()], source=HERE, start=True)
        with pytest.raises(RequestError, match="already"):
            await one.create_session(TENANT, id="s")
        with pytest.raises(RequestError, match="no such session"):
            await one.finder.newest("another tenant", "s")

    run(work())


def test_too_many_messages_are_refused() -> None:
    async def work() -> None:
        one = checker(max_messages=4)
        with pytest.raises(RequestError) as caught:
            await one.check_conversation(TENANT, HIJACKED, source=HERE)
        assert caught.value.problem.status == 413

    run(work())


def test_tools_may_be_declared_with_any_message() -> None:
    async def work() -> None:
        one = checker()
        await one.check(TENANT, "s", [user()], source=HERE, tools=TOOLS, start=True)
        assert set((await one.finder.newest(TENANT, "s")).state.tools) == {
            each.name for each in TOOLS
        }

    run(work())


def test_an_outage_of_the_judge_is_a_stored_decision() -> None:
    async def work() -> None:
        store = MemoryStore()
        one = checker(store, by=TableJudge(error=JudgeUnavailable("gone")))
        checked = await one.check(
            TENANT, "s", [user(), call("send_money")], source=HERE, tools=TOOLS, start=True
        )
        assert checked.decisions[1].action == "block"
        assert [each.check for each in await records(store)] == ["failed", "failed"]
        assert "could not be checked" in (await records(store))[1].summary

    run(work())
