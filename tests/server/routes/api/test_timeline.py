"""Sessions in lists and message by message."""

from dataclasses import replace
from typing import Any

import pytest

from taskshield.core.messages import Message
from taskshield.core.tools import Tier
from taskshield.server.sessions.snapshots import RequestSource
from taskshield.stores.memory import MemoryStore
from tests.engine.sessions import run
from tests.server.dashboard.people import hijacked, refusal
from tests.server.stage import (
    HIJACKED,
    TENANT,
    call,
    checker,
    conversation,
    keyed,
    output,
    served,
    user,
    wire,
)

ESCALATE = {"misaligned": {tier.value: "escalate" for tier in Tier}}


def test_a_list_shows_the_tasks_and_counts_of_each_session() -> None:
    with served() as client:
        client.post("/api/sessions", json={"id": "new"}).raise_for_status()
        client.headers["x-taskshield-agent"] = "clerk"
        hijacked(client)
        session, new = client.get("/api/sessions").json()["items"]
    assert (session["id"], session["surface"], session["messages"]) == ("s", "native", 5)
    assert (session["agent"], new["agent"]) == ("clerk", None)
    assert session["tasks"] == ["Read my notes and write a summary."]
    assert (session["blocked"], session["escalated"], session["last_action"]) == (1, 0, "allow")
    assert session["last_at"] is not None
    assert (new["surface"], new["tasks"], new["messages"]) == (None, [], 0)
    assert (new["last_action"], new["last_at"]) == (None, None)


def test_counts_add_up_over_requests_and_replicas() -> None:
    store = MemoryStore()
    with served(store, policy=ESCALATE) as client:
        client.post("/api/sessions", json={"id": "s"}).raise_for_status()
        for message in HIJACKED.messages[:4]:
            said = {"messages": wire(message)}
            client.post("/api/sessions/s/messages", json=said).raise_for_status()
    with served(store) as other:  # whose policy is not to ask
        said = {"messages": wire(call("send_money", id="c9", path="evil"))}
        other.post("/api/sessions/s/messages", json=said).raise_for_status()
        (session,) = other.get("/api/sessions").json()["items"]
    assert (session["messages"], session["escalated"], session["blocked"]) == (5, 1, 1)
    assert session["last_action"] == "block"  # it was refused before


def test_a_forked_session_keeps_its_counts() -> None:
    async def work() -> None:
        store = MemoryStore()
        one = checker(store)
        base = HIJACKED.messages[:4]
        for last in ("a", "b"):
            said = conversation(*base, call("write_note", id="c5", path=last))
            await one.check_conversation(TENANT, said, source=RequestSource("azure"))
        sessions = (await store.sessions(TENANT)).items
        assert {(each.messages, each.blocked) for each in sessions} == {(5, 1)}

    run(work())


def test_tasks_in_a_list_are_few_and_short_and_have_no_secrets() -> None:
    key = "AKIAIOSFODNN7EXAMPLE"
    texts = [f"Use {key} to log in.", "x" * 2_000, "b\x1b[2J\u202e", "d"]
    with served() as client:
        client.post("/api/sessions", json={"id": "s"}).raise_for_status()
        said = {"messages": wire(*map(user, texts))}
        client.post("/api/sessions/s/messages", json=said).raise_for_status()
        (session,) = client.get("/api/sessions").json()["items"]
    assert len(session["tasks"]) == 3
    assert key not in session["tasks"][0] and len(session["tasks"][1]) < 400
    assert session["tasks"][2].isprintable()


def test_without_texts_a_list_has_numbers_only() -> None:
    with served(store_texts=False) as client:
        hijacked(client)
        (session,) = client.get("/api/sessions").json()["items"]
        assert (session["tasks"], session["messages"], session["blocked"]) == ([], 5, 1)
        assert refusal(client.get("/api/sessions/s/timeline")) == (410, "gone")


def test_a_timeline_shows_messages_and_decisions() -> None:
    with served(policy=ESCALATE) as client:
        decisions = hijacked(client)
        timeline = client.get("/api/sessions/s/timeline").json()
    items = timeline["items"]
    assert [item["number"] for item in items] == [0, 1, 2, 3, 4]
    assert [item["text"] for item in items] == [each.text for each in HIJACKED.messages]
    assert [item["level"] for item in items][:3] == ["user", "assistant", "tool"]
    assert {item["surface"] for item in items} == {"native"}
    assert [item["decision"] for item in items] == decisions  # with the approval, and replayed
    assert [task["text"] for task in timeline["tasks"]] == ["Read my notes and write a summary."]
    assert timeline["next"] is None
    assert [item["label"] for item in items] == [None] * 5


def test_evidence_points_to_the_exact_words() -> None:
    with served() as client:
        hijacked(client)
        items = client.get("/api/sessions/s/timeline").json()["items"]
    texts = [item["text"] for item in items]
    found = {item["number"]: item["evidence"] for item in items if item["evidence"]}
    assert {number: [each["origin"] for each in own] for number, own in found.items()} == {
        1: ["user"],
        3: ["directive"],
        4: ["user"],
    }
    for own in found.values():
        for each in own:
            (place,) = each["places"]
            assert texts[place["message"]][place["start"] : place["end"]] == each["value"]
    assert (found[3][0]["call_id"], found[3][0]["path"]) == ("c2", "path")


def test_a_long_session_is_read_page_by_page_with_the_same_evidence() -> None:
    talk: list[Message] = [user()]
    for number in range(20):
        talk += [
            call(id=f"c{number}", path=f"file-{number}"),
            output(f"The next is file-{number + 1}.", answers=f"c{number}"),
        ]
    with served() as client:
        client.post("/api/sessions", json={"id": "s"}).raise_for_status()
        said = {"messages": wire(*talk)}
        client.post("/api/sessions/s/messages", json=said).raise_for_status()
        whole = client.get("/api/sessions/s/timeline?limit=100").json()["items"]
        pages: list[Any] = []
        after: int | None = -1
        while after is not None:
            path = f"/api/sessions/s/timeline?limit=7&after={after}"
            page = client.get(path).json()
            pages += page["items"]
            after = page["next"]
        beyond = client.get("/api/sessions/s/timeline?after=999").json()
    assert len(whole) == 41 and pages == whole
    assert whole[5]["evidence"][0]["origin"] == "data"
    assert beyond == {"items": [], "tasks": [], "next": None}


def test_messages_too_far_back_are_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("taskshield.server.routes.api.timeline._BEFORE_LENGTH", 1)
    with served() as client:
        hijacked(client)
        (item,) = client.get("/api/sessions/s/timeline?after=2&limit=1").json()["items"]
    assert item["evidence"][0]["origin"] == "new"


def test_tenants_see_no_timelines_of_others() -> None:
    store = MemoryStore()
    own, other = (run(keyed(store, "admin", tenant=tenant)) for tenant in ("a", "b"))
    with served(store, key=own) as client:
        hijacked(client)
        headers = {"x-taskshield-key": other}
        for path in ("/api/sessions/s/timeline", "/api/sessions/none/timeline"):
            assert refusal(client.get(path, headers=headers)) == (404, "not_found")
        assert client.get("/api/sessions", headers=headers).json()["items"] == []
        assert client.get("/api/stats", headers=headers).json()["decisions"] == 0
        assert client.get("/api/sessions/s/timeline").status_code == 200


def test_a_new_session_has_an_empty_timeline() -> None:
    with served() as client:
        client.post("/api/sessions", json={"id": "s"}).raise_for_status()
        answer = client.get("/api/sessions/s/timeline")
    assert answer.json() == {"items": [], "tasks": [], "next": None}


@pytest.mark.parametrize("query", ["after=-2", "after=x", "limit=0", "limit=101", f"after={2**70}"])
def test_invalid_pages_are_refused(query: str) -> None:
    with served() as client:
        answer = client.get(f"/api/sessions/s/timeline?{query}")
    assert refusal(answer) == (400, "invalid_request")


def test_a_stored_case_that_cannot_be_read_is_a_store_error() -> None:
    store = MemoryStore()
    with served(store) as client:
        id = hijacked(client)[2]["id"]
        broken = replace(store._records._rows[TENANT, id], case='{"secret": "canary"}')
        store._records._rows[TENANT, id] = broken
        answer = client.get("/api/sessions/s/timeline")
    assert refusal(answer) == (503, "store_unavailable")
    assert "canary" not in answer.text
