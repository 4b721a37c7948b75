from taskshield.stores.memory import MemoryStore
from tests.engine.sessions import run
from tests.server.sessions.stored_sessions import (
    AZURE,
    HERE,
)
from tests.server.stage import (
    ESCALATING,
    TENANT,
    TOOLS,
    call,
    checker,
    conversation,
    user,
)


def test_an_approval_allows_the_call_once() -> None:
    money = call("send_money", id="c2", path="evil")

    async def work(hop: bool) -> None:
        store = MemoryStore()
        first = checker(store, policy=ESCALATING)
        second = checker(store, policy=ESCALATING) if hop else first
        checked = await first.check(
            TENANT, "s", [user(), money], source=HERE, tools=TOOLS, start=True
        )
        (approval,) = checked.approvals.values()
        assert checked.decisions[1].action == "escalate"
        assert checked.approvals[checked.decisions[1].id] == approval
        assert await second.apply_approval(TENANT, "s", approval.id)
        assert not await first.apply_approval(TENANT, "s", approval.id)
        allowed = await first.check(TENANT, "s", [money], source=HERE)
        assert allowed.decisions[0].allowed
        again = await second.check(TENANT, "s", [money], source=HERE)
        assert not again.decisions[0].allowed

    run(work(False))
    run(work(True))


def test_an_approval_also_counts_in_a_conversation_without_a_session() -> None:
    money = call("send_money", id="c2", path="evil")
    again = call("send_money", id="c3", path="evil")

    async def work() -> None:
        store = MemoryStore()
        first, second = checker(store, policy=ESCALATING), checker(store, policy=ESCALATING)
        held = await first.check_conversation(TENANT, conversation(user(), money), source=AZURE)
        (approval,) = held.approvals.values()
        assert await second.apply_approval(TENANT, held.session, approval.id)
        later = await first.check_conversation(
            TENANT, conversation(user(), money, again), source=AZURE
        )
        assert later.decisions[-1].allowed and later.session == held.session

    run(work())


def test_a_call_blocked_before_the_users_new_message_cannot_be_approved() -> None:
    money = call("send_money", id="c2", path="evil")

    async def work() -> None:
        one = checker(policy=ESCALATING)
        held = await one.check(TENANT, "s", [user(), money], source=HERE, start=True)
        (approval,) = held.approvals.values()
        late = await one.check(TENANT, "s", [money, user("Stop!")], source=HERE)
        assert late.approvals == {}
        assert not await one.apply_approval(TENANT, "s", approval.id)

    run(work())
