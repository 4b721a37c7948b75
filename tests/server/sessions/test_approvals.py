import asyncio
from datetime import timedelta

import pytest

from taskshield.core.errors import StoreError
from taskshield.core.store import Approval, ApprovalStatus, Store
from taskshield.server.http.errors import RequestError
from taskshield.server.sessions.approvals import Approvals
from taskshield.server.sessions.checker import SessionChecker
from taskshield.server.sessions.snapshots import RequestSource
from taskshield.stores.memory import MemoryStore
from tests.engine.sessions import run
from tests.server.stage import ESCALATING, TENANT, Failing, call, checker, user

MONEY = call("send_money", id="c2", path="evil")


async def held(one: SessionChecker) -> Approval:
    """What a person is asked after the agent tried to send money."""
    checked = await one.check(
        TENANT, "s", [user(), MONEY], source=RequestSource("test"), start=True
    )
    (approval,) = checked.approvals.values()
    return approval


def people(
    store: Store, one: SessionChecker, told: list[ApprovalStatus] | None = None
) -> Approvals:
    statuses: list[ApprovalStatus] = [] if told is None else told
    return Approvals(store, one, lambda approval: statuses.append(approval.status))


def test_a_waiting_request_gets_the_decision_at_once() -> None:
    async def work() -> None:
        store = MemoryStore()
        one = checker(store, policy=ESCALATING)
        told: list[ApprovalStatus] = []
        approvals = people(store, one, told)
        asked = await held(one)
        waiting = asyncio.create_task(approvals.wait(TENANT, asked.id, 60))
        await asyncio.sleep(0)
        await approvals.approve(TENANT, asked.id, by="Ann", note="ok")
        found = await waiting
        assert (found.status, found.decided_by, found.note) == ("approved", "Ann", "ok")
        assert told == ["approved"]

    run(work())


def test_a_waiting_request_gets_the_decision_of_another_replica() -> None:
    async def work() -> None:
        store = MemoryStore()
        first, second = checker(store, policy=ESCALATING), checker(store, policy=ESCALATING)
        asked = await held(first)
        waiting = asyncio.create_task(people(store, first).wait(TENANT, asked.id, 60))
        await asyncio.sleep(0)
        await people(store, second).deny(TENANT, asked.id, by="Ben")
        assert (await waiting).status == "denied"

    run(work())


def test_waiting_ends_after_its_time_or_when_the_server_stops() -> None:
    async def work() -> None:
        store = MemoryStore()
        one = checker(store, policy=ESCALATING)
        approvals = people(store, one)
        asked = await held(one)
        assert (await approvals.wait(TENANT, asked.id, 0)).status == "pending"
        assert (await approvals.wait(TENANT, asked.id, 0.05)).status == "pending"
        waiting = asyncio.create_task(approvals.wait(TENANT, asked.id, 60))
        await asyncio.sleep(0)
        await approvals.stop_waiting()
        assert (await waiting).status == "pending"

    run(work())


def test_an_expired_approval_counts_as_denied() -> None:
    async def work() -> None:
        store = MemoryStore()
        one = checker(store, policy=ESCALATING, approval_time=timedelta(0))
        approvals = people(store, one)
        asked = await held(one)
        assert (await approvals.wait(TENANT, asked.id, 60)).status == "expired"
        for decided in (approvals.approve, approvals.deny):
            with pytest.raises(RequestError, match="already expired"):
                await decided(TENANT, asked.id, by="Ann")
        again = await one.check(TENANT, "s", [MONEY], source=RequestSource("test"))
        assert not again.decisions[0].allowed

    run(work())


def test_an_approval_after_the_users_next_message_is_refused() -> None:
    async def work() -> None:
        store = MemoryStore()
        one = checker(store, policy=ESCALATING)
        asked = await held(one)
        await one.check(TENANT, "s", [user("No, stop.")], source=RequestSource("test"))
        with pytest.raises(RequestError, match="The user has written again"):
            await people(store, one).approve(TENANT, asked.id, by="Ann")
        assert (await people(store, one).get(TENANT, asked.id)).status == "pending"

    run(work())


def test_an_approval_that_failed_midway_is_completed_the_next_time() -> None:
    async def work() -> None:
        store = Failing()
        one = checker(store, policy=ESCALATING)
        approvals = people(store, one)
        asked = await held(one)
        store.breaking = 1
        with pytest.raises(StoreError):
            await approvals.approve(TENANT, asked.id, by="Ann")
        assert (await approvals.get(TENANT, asked.id)).status == "approved"
        await approvals.approve(TENANT, asked.id, by="Ann")
        await approvals.approve(TENANT, asked.id, by="Ann")  # it lets through once all the same
        allowed = [
            (await one.check(TENANT, "s", [MONEY], source=RequestSource("test")))
            .decisions[0]
            .allowed
            for _ in range(2)
        ]
        assert allowed == [True, False]

    run(work())


def test_an_approval_allows_only_the_call_that_was_blocked() -> None:
    async def work() -> None:
        store = MemoryStore()
        one = checker(store, policy=ESCALATING)
        asked = await held(one)
        await people(store, one).approve(TENANT, asked.id, by="Ann")
        other = call("send_money", id="c3", path="evil twin")
        checked = await one.check(TENANT, "s", [other], source=RequestSource("test"))
        assert not checked.decisions[0].allowed

    run(work())
