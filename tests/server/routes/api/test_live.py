"""Live events: who gets them, which ones, and from which event on."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from taskshield.core.tools import Tier
from taskshield.server.http.errors import RequestError
from taskshield.server.operations.live_events import Event, LiveEvents
from taskshield.stores.memory import MemoryStore
from tests.engine.sessions import run
from tests.server.dashboard.people import hijacked
from tests.server.listening import Listening, in_thread
from tests.server.stage import OWN, judge, keyed, served

ESCALATE = {"misaligned": {tier.value: "escalate" for tier in Tier}}


async def heard(
    live: LiveEvents, count: int, last: str | None = None, tenant: str = "t"
) -> list[Event]:
    """So many events, from the "start" on."""
    followed = live.follow(tenant, last, 60)
    events = []
    async for event in followed:
        assert event is not None
        events.append(event)
        if len(events) == count:
            break
    await followed.aclose()
    return events


def told(events: list[Event]) -> list[tuple[str, str]]:
    return [(event.name, event.data) for event in events]


def test_events_arrive_in_order() -> None:
    async def work() -> None:
        live = LiveEvents()
        live.publish("t", "decision", "0")
        following = asyncio.create_task(heard(live, 3))
        await asyncio.sleep(0)
        live.publish("t", "decision", "1")
        live.publish("t", "approval", "2")
        assert told(await following) == [("start", "{}"), ("decision", "1"), ("approval", "2")]

    run(work())


def test_a_stream_resumes_after_its_last_event() -> None:
    async def work() -> None:
        live = LiveEvents()
        (start,) = await heard(live, 1)
        for data in "123":
            live.publish("t", "decision", data)
        events = await heard(live, 4, start.id)
        assert [event.data for event in events] == ["{}", "1", "2", "3"]
        assert events[0].id == start.id  # a client that disconnects here has missed no event
        assert told(await heard(live, 2, events[2].id))[1] == ("decision", "3")

    run(work())


@pytest.mark.parametrize("last", ["", "x", "other-1", "-1", "9" * 90, "RUN-99", "RUN--1", "RUN-²"])
def test_an_event_id_of_another_process_gets_a_reset(last: str) -> None:
    async def work() -> None:
        live = LiveEvents()
        live.publish("t", "decision", "1")
        events = await heard(live, 2, last.replace("RUN", live._run))
        assert told(events) == [("start", "{}"), ("reset", "{}")]
        live.publish("t", "decision", "2")
        assert told(await heard(live, 2, events[1].id))[1] == ("decision", "2")

    run(work())


def test_a_slow_follower_gets_a_reset_and_memory_is_bounded() -> None:
    async def work() -> None:
        live = LiveEvents()
        followed = live.follow("t", None, 60)
        await anext(followed)
        for number in range(1_200):
            live.publish("t", "decision", str(number))
        missed = await anext(followed)
        assert missed is not None and missed.name == "reset"
        live.publish("t", "decision", "next")
        fresh = await anext(followed)
        assert fresh is not None and fresh.data == "next"
        assert len(live._channels["t"].events) == 500
        await followed.aclose()

    run(work())


def test_tenants_do_not_get_each_others_events() -> None:
    async def work() -> None:
        live = LiveEvents()
        live.publish("evil", "decision", "secret")
        live.publish("t", "decision", "own")
        (start,) = await heard(live, 1, tenant="evil")
        # The id of an event of one tenant tells nothing of another's.
        events = await heard(live, 2, f"{live._run}-0")
        assert told(events)[1] == ("decision", "own")
        live.publish("t", "decision", "more")
        assert told(await heard(live, 2, f"{live._run}-0", "evil"))[1] == ("decision", "secret")
        assert start.id == f"{live._run}-1"

    run(work())


def test_a_stream_reports_pauses_and_ends_on_close() -> None:
    async def work() -> None:
        live = LiveEvents()
        followed = live.follow("t", None, 0.001)
        await anext(followed)
        assert await anext(followed) is None
        live.close()
        assert [event async for event in followed if event is not None] == []
        assert [event.name for event in await heard(live, 9)] == ["start"]

    run(work())


def test_the_number_of_streams_is_limited() -> None:
    async def work() -> None:
        live = LiveEvents()
        streams = [live.follow("t", None, 60) for _ in range(101)]
        for stream in streams[:100]:
            await anext(stream)
        with pytest.raises(RequestError) as caught:
            await anext(streams[100])
        assert caught.value.problem.status == 429
        assert (await heard(live, 1, tenant="other"))[0].name == "start"
        await streams[0].aclose()
        assert (await heard(live, 1))[0].name == "start"
        for stream in streams:
            await stream.aclose()

    run(work())


@contextmanager
def stream(server: Listening, **headers: str) -> Iterator[Iterator[dict[str, Any]]]:
    """The events of a server, as a browser sees them."""

    def events() -> Iterator[dict[str, Any]]:
        event: dict[str, Any] = {}
        for line in answer.iter_lines():
            if not line:
                if event:
                    yield event
                event = {}
            elif line.startswith(":"):
                yield {"event": "comment"}
            else:
                name, _, value = line.partition(": ")
                event[name] = json.loads(value) if name == "data" else value

    with (
        httpx.Client(base_url=server.url, timeout=30) as client,
        client.stream("GET", "/api/live", headers={**server.owner, **headers}) as answer,
    ):
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["cache-control"] == "no-store"
        yield events()


def test_decisions_and_approvals_are_streamed_as_they_happen() -> None:
    store = MemoryStore()
    key = {"x-taskshield-key": run(keyed(store, "admin"))}
    with (
        in_thread(judge(), store, policy=ESCALATE) as server,
        stream(server, **key) as events,
        httpx.Client(base_url=server.url, headers=key) as client,
    ):
        assert next(events)["event"] == "start"
        decisions = hijacked(client)  # type: ignore[arg-type]
        seen = [next(events) for _ in decisions]
        assert [each["event"] for each in seen] == ["decision"] * len(decisions)
        held = seen[3]["data"]
        assert held.keys() == {
            *(
                "session",
                "surface",
                "agent",
                "number",
                "level",
                "action",
                "check",
                "tier",
                "summary",
            ),
            *("decision", "at", "elapsed_ms"),
        }
        assert (held["session"], held["surface"], held["number"]) == ("s", "native", 3)
        assert held["agent"] == "default's key"
        assert (held["level"], held["action"], held["tier"]) == (
            "assistant",
            "escalate",
            "financial",
        )
        assert held["decision"] == decisions[3]["id"] and "send_money" in held["summary"]
        asked = next(events)
        assert (asked["event"], asked["data"]["status"]) == ("approval", "pending")
        path = f"/api/approvals/{asked['data']['id']}/approve"
        client.post(path, json={"note": "ok"}).raise_for_status()
        decided = next(events)["data"]
        assert (decided["status"], decided["note"]) == ("approved", "ok")


def test_a_stream_has_events_of_its_own_tenant_only() -> None:
    store = MemoryStore()
    mine, other = (
        {"x-taskshield-key": run(keyed(store, "check", tenant=tenant))} for tenant in ("a", "b")
    )
    with (
        in_thread(judge(), store) as server,
        stream(server, **mine) as events,
        httpx.Client(base_url=server.url) as client,
    ):
        start = next(events)
        hijacked(client, "others", headers=other)  # type: ignore[arg-type]
        hijacked(client, "own", headers=mine)  # type: ignore[arg-type]
        assert {next(events)["data"]["session"] for _ in range(5)} == {"own"}
        with stream(server, **other, **{"last-event-id": start["id"]}) as theirs:
            assert next(theirs)["event"] == "start"
            assert next(theirs)["data"]["session"] == "others"


def test_a_stream_can_be_resumed_over_the_wire() -> None:
    store = MemoryStore()
    with in_thread(judge(), store) as server, httpx.Client(base_url=server.url) as client:
        with stream(server) as events:
            start = next(events)
        hijacked(client)  # type: ignore[arg-type]
        with stream(server, **{"last-event-id": start["id"]}) as events:
            assert next(events)["event"] == "start"
            numbers = [next(events)["data"]["number"] for _ in range(5)]
        assert numbers == [0, 1, 2, 3, 4]
        with stream(server, **{"last-event-id": "of-another-process"}) as events:
            assert [next(events)["event"] for _ in range(2)] == ["start", "reset"]


def test_a_heartbeat_is_sent_and_a_revoked_key_ends_the_stream(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("taskshield.server.routes.api.live._PAUSE_S", 0.01)
    monkeypatch.setattr("taskshield.server.access.auth._CACHE_S", -1.0)
    store = MemoryStore()
    secret = run(keyed(store, "check"))
    with in_thread(judge(), store) as server, httpx.Client(base_url=server.url) as client:
        own = {**OWN, "origin": server.url}
        client.post("/page/login", json={"key": secret}, headers=own).raise_for_status()
        (cookie,) = client.cookies.jar
        with stream(server, cookie=f"{cookie.name}={cookie.value}") as events:
            assert next(events)["event"] == "start"
            assert next(events)["event"] == "comment"
            (key,) = run(store.keys())
            run(store.revoke_key(key.id))
            assert {each["event"] for each in events} <= {"comment"}  # and then it ends


def test_a_server_that_stops_ends_its_streams() -> None:
    with in_thread(judge(), MemoryStore()) as server, stream(server) as events:
        assert next(events)["event"] == "start"
        server.stop()
        assert list(events) == []


def test_a_stream_needs_authorization() -> None:
    store = MemoryStore()
    keys = [run(keyed(store, scope)) for scope in ("approve", "proxy")]
    with served(store) as client:
        assert client.get("/api/live").status_code == 401
        for key in keys:
            assert client.get("/api/live", headers={"x-taskshield-key": key}).status_code == 403


def test_texts_that_are_not_stored_are_not_streamed() -> None:
    store = MemoryStore()
    with (
        in_thread(judge(), store, store_texts=False) as server,
        stream(server) as events,
        httpx.Client(base_url=server.url) as client,
    ):
        next(events)
        hijacked(client)  # type: ignore[arg-type]
        assert {next(events)["data"]["summary"] for _ in range(5)} == {""}
