import asyncio
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from taskshield.server.sessions.resume_keys import ResumeKeys
from taskshield.stores.memory import MemoryStore
from tests.engine.sessions import run
from tests.judging import TableJudge
from tests.server.sessions.stored_sessions import (
    HERE,
    PROXY,
    in_library,
    records,
)
from tests.server.stage import (
    ESCALATING,
    HIJACKED,
    TENANT,
    TOOLS,
    call,
    checker,
    conversation,
    outcome,
    output,
    user,
)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.booleans())
def test_a_growing_conversation_is_judged_as_from_scratch(steps: list[int], hop: bool) -> None:
    async def work() -> None:
        store = MemoryStore()
        replicas = [checker(store), checker(store)]
        judged = length = 0
        for number, step in enumerate(steps):
            length = min(length + step, len(HIJACKED.messages))
            sofar = replace(HIJACKED, messages=HIJACKED.messages[:length])
            one = replicas[number % 2 if hop else 0]
            checked = await one.check_conversation(TENANT, sofar, source=HERE)
            judged += checked.new
            assert outcome(checked.decisions) == outcome(await in_library(sofar.messages))
        assert judged == length == len(await records(store))
        assert len((await store.sessions(TENANT)).items) == 1

    run(work())


def test_conversations_that_differ_become_sessions_of_their_own() -> None:
    begun = conversation(user(), call(id="c1"), output("Buy milk."))
    left = conversation(*begun.messages, call("write_note", id="c2"))
    right = conversation(*begun.messages, call("send_money", id="c2", path="evil"))

    async def work() -> None:
        store = MemoryStore()
        replicas = [checker(store), checker(store)]
        for one in replicas:
            await one.check_conversation(TENANT, begun, source=HERE)
        first = await replicas[0].check_conversation(TENANT, left, source=HERE)
        second = await replicas[1].check_conversation(TENANT, right, source=HERE)
        assert first.session != second.session
        assert (first.new, second.new) == (1, 1)
        assert outcome(second.decisions) == outcome(await in_library(right.messages))
        again = await replicas[1].check_conversation(TENANT, left, source=HERE)
        assert (again.session, again.new) == (first.session, 0)

    run(work())


def test_a_conversation_whose_session_moved_on_is_judged_from_its_beginning() -> None:
    begun = conversation(user())
    moved = conversation(user(), call(id="c1"))
    other = conversation(user(), call("write_note", id="c1"))

    async def work() -> None:
        store = MemoryStore()
        await checker(store).check_conversation(TENANT, begun, source=HERE)
        await checker(store).check_conversation(TENANT, moved, source=HERE)
        fresh = await checker(store).check_conversation(TENANT, other, source=HERE)
        assert fresh.new == 2
        assert outcome(fresh.decisions) == outcome(await in_library(other.messages))

    run(work())


def test_tenants_never_share_a_conversation() -> None:
    async def work() -> None:
        store = MemoryStore()
        one = checker(store)
        ours = await one.check_conversation("a", HIJACKED, source=HERE)
        theirs = await one.check_conversation("b", HIJACKED, source=HERE)
        assert theirs.new == 5 and theirs.session != ours.session
        assert {each.id for each in await records(store, "a")}.isdisjoint(
            each.id for each in await records(store, "b")
        )

    run(work())


def test_another_policy_judge_or_set_of_tools_is_another_conversation() -> None:
    async def work() -> None:
        store = MemoryStore()
        await checker(store).check_conversation(TENANT, HIJACKED, source=HERE)
        others = [
            (checker(store, policy=ESCALATING), HIJACKED),
            (checker(store, by=TableJudge(name="other")), HIJACKED),
            (checker(store), replace(HIJACKED, tools=TOOLS[:1])),
        ]
        for one, said in others:
            assert (await one.check_conversation(TENANT, said, source=HERE)).new == 5

    run(work())


def test_the_same_conversation_twice_at_once_is_judged_once() -> None:
    async def work() -> None:
        store = MemoryStore()
        one = checker(store)
        both = await asyncio.gather(
            *(one.check_conversation(TENANT, HIJACKED, source=HERE) for _ in range(2))
        )
        assert {each.new for each in both} == {0, 5}
        assert outcome(both[0].decisions) == outcome(both[1].decisions)
        assert len(await records(store)) == 5

    run(work())


def test_a_conversation_is_found_by_what_its_client_saw() -> None:
    asked = conversation(user(), call(id="c1"), output("Buy milk."))
    hidden = call("send_money", id="c2", path="evil")
    shown = call("write_note", id="c3")

    async def work(hop: bool) -> None:
        store = MemoryStore()
        first = checker(store)
        begun = await first.check_conversation(TENANT, asked, source=PROXY)
        refused = await first.check_after(begun.snapshot, [hidden], source=PROXY)
        assert refused.decisions[0].action == "revise"
        said = await first.check_after(refused.snapshot, [shown], source=PROXY)
        visible = conversation(*asked.messages, shown)
        decisions = (*begun.decisions, *said.decisions)
        await first.finder.remember(
            said.snapshot, [await first.finder.name_of(visible), "response-1"], decisions
        )

        second = checker(store) if hop else first
        later = conversation(*visible.messages, output("Done.", answers="c3"), user("Thanks!"))
        checked = await second.check_conversation(TENANT, later, source=PROXY)
        assert (checked.session, checked.new) == (begun.session, 2)
        assert [each.id for each in checked.decisions[:4]] == [each.id for each in decisions]
        snapshot = await second.finder.newest(TENANT, begun.session)
        assert snapshot.state.messages == 7  # the hidden round is a part of the session

    run(work(False))
    run(work(True))


def test_answers_to_the_same_request_become_sessions_of_their_own() -> None:
    asked = conversation(user())
    answers = [call("send_money", id="c1", path="evil"), call("write_note", id="c1")]

    async def work() -> None:
        store = MemoryStore()
        replicas = [checker(store), checker(store)]
        sessions: list[str] = []
        for one, answer in zip(replicas, answers, strict=True):
            begun = await one.check_conversation(TENANT, asked, source=PROXY)
            visible = conversation(*asked.messages, answer)
            resume = ResumeKeys(
                names=(await one.finder.name_of(visible),),
                decisions=begun.decisions,
                unless=lambda decision: False,
            )
            said = await one.check_after(begun.snapshot, [answer], source=PROXY, resume=resume)
            decisions = (*begun.decisions, *said.decisions)
            assert outcome(decisions) == outcome(await in_library(visible.messages))
            sessions.append(said.session)
        assert len(set(sessions)) == 2
        for number, answer in enumerate(answers):
            later = conversation(*asked.messages, answer, output())
            checked = await replicas[0].check_conversation(TENANT, later, source=PROXY)
            assert (checked.session, checked.new) == (sessions[number], 1)

    run(work())


def test_an_approval_does_not_split_a_conversation() -> None:
    money = call("send_money", id="c1", path="evil")

    async def work() -> None:
        store = MemoryStore()
        one = checker(store, policy=ESCALATING)
        begun = await one.check_conversation(TENANT, conversation(user()), source=PROXY)
        held = await one.check_after(begun.snapshot, [money], source=PROXY)
        (approval,) = held.approvals.values()
        await checker(store, policy=ESCALATING).apply_approval(TENANT, held.session, approval.id)
        decisions = (*begun.decisions, *held.decisions)
        snapshot = await one.finder.remember(held.snapshot, ["held"], decisions)
        again = await one.check_after(snapshot, [money], source=PROXY)
        assert again.session == begun.session and again.decisions[0].allowed

    run(work())


def test_a_conversation_whose_records_were_pruned_is_judged_again() -> None:
    async def work() -> None:
        store = MemoryStore()
        await checker(store).check_conversation(TENANT, HIJACKED, source=HERE)
        await store.prune(older_than=None, keep=1)
        again = await checker(store).check_conversation(TENANT, HIJACKED, source=HERE)
        assert again.new == 5

    run(work())


def test_a_snapshot_is_named_only_where_the_client_gets_the_response_unchanged() -> None:
    async def work() -> None:
        one = checker(MemoryStore())
        begun = await one.check_conversation(TENANT, conversation(user()), source=PROXY)
        resume = ResumeKeys(
            names=("response-1",), decisions=begun.decisions, unless=lambda each: not each.allowed
        )
        hidden = call("send_money", id="c1", path="evil")
        refused = await one.check_after(begun.snapshot, [hidden], source=PROXY, resume=resume)
        assert await one.finder.named(TENANT, "response-1") is None
        said = await one.check_after(refused.snapshot, [call(id="c2")], source=PROXY, resume=resume)
        found = await one.finder.named(TENANT, "response-1")
        assert found is not None and found.snapshot == said.snapshot
        assert found.decisions == (*begun.decisions, *said.decisions)

    run(work())
