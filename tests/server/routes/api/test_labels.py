"""Labels on decisions, and their export."""

import json
from typing import Any

import pytest

from taskshield.adapters.conversations import native
from taskshield.stores.memory import MemoryStore
from tests.engine.sessions import run
from tests.server.dashboard.people import hijacked, logged_in, own_page, refusal
from tests.server.stage import HIJACKED, TENANT, keyed, served


def exported(client: Any, **more: Any) -> list[dict[str, Any]]:
    answer = client.get("/api/labels/export", **more)
    answer.raise_for_status()
    assert answer.headers["content-type"].startswith("application/jsonl")
    assert answer.headers["content-disposition"] == 'attachment; filename="labels.jsonl"'
    return [json.loads(line) for line in answer.text.splitlines()]


def test_a_label_can_be_set_changed_read_and_removed() -> None:
    store = MemoryStore()
    with logged_in(store) as client:
        headers = own_page(client)
        held = hijacked(client, headers=headers)[3]["id"]
        path = f"/api/decisions/{held}/label"
        client.put(path, json={"label": "right"}, headers=headers).raise_for_status()
        given = client.put(path, json={"label": "wrong", "note": "no \x1b"}, headers=headers).json()
        assert (given["label"], given["note"], given["by"]) == ("wrong", "no \x1b", "default's key")
        assert client.get("/api/labels").json() == {"items": [given], "next": None}
        items = client.get("/api/sessions/s/timeline").json()["items"]
        assert [item["label"] for item in items] == [None, None, None, given, None]
        assert client.delete(path, headers=headers).status_code == 204
        assert refusal(client.delete(path, headers=headers)) == (404, "not_found")
        assert client.get("/api/labels").json()["items"] == []


def test_labels_are_listed_page_by_page() -> None:
    with served() as client:
        ids = [decision["id"] for decision in hijacked(client)]
        for id in ids:
            client.put(f"/api/decisions/{id}/label", json={"label": "right"}).raise_for_status()
        first = client.get("/api/labels?limit=3").json()
        rest = client.get("/api/labels", params={"after": first["next"]}).json()
    assert [item["decision"] for item in first["items"] + rest["items"]] == ids[::-1]


@pytest.mark.parametrize(
    "body", [{}, {"label": "maybe"}, {"label": "wrong", "note": "x" * 2_001}, {"label": None}, []]
)
def test_any_other_label_is_refused(body: object) -> None:
    with served() as client:
        id = hijacked(client)[0]["id"]
        answer = client.put(f"/api/decisions/{id}/label", json=body)
        assert refusal(answer) == (400, "invalid_request")
        missing = client.put("/api/decisions/none/label", json={"label": "wrong"})
        assert refusal(missing) == (404, "not_found")


def test_a_key_of_an_agent_cannot_set_labels() -> None:
    store = MemoryStore()
    checking = {"x-taskshield-key": run(keyed(store, "check", "proxy"))}
    with served(store, key=run(keyed(store, "admin"))) as client:
        path = f"/api/decisions/{hijacked(client)[3]['id']}/label"
        answer = client.put(path, json={"label": "wrong"}, headers=checking)
        assert refusal(answer) == (403, "forbidden")
        assert refusal(client.delete(path, headers=checking)) == (403, "forbidden")


def test_tenants_do_not_see_or_change_labels_of_others() -> None:
    store = MemoryStore()
    own, other = (run(keyed(store, "admin", tenant=tenant)) for tenant in ("a", "b"))
    theirs = {"x-taskshield-key": other}
    with served(store, key=own) as client:
        path = f"/api/decisions/{hijacked(client)[3]['id']}/label"
        client.put(path, json={"label": "wrong"}).raise_for_status()
        answer = client.put(path, json={"label": "right"}, headers=theirs)
        assert refusal(answer) == (404, "not_found")
        assert refusal(client.delete(path, headers=theirs)) == (404, "not_found")
        assert client.get("/api/labels", headers=theirs).json()["items"] == []
        assert exported(client, headers=theirs) == []
        assert client.get("/api/labels").json()["items"][0]["label"] == "wrong"


def test_an_export_has_the_conversation_up_to_the_decision() -> None:
    with served() as client:
        client.post(
            "/api/sessions", json={"id": "tooled", "tools": [{"name": "read_file"}]}
        ).raise_for_status()
        messages = native.render(HIJACKED)["messages"]
        answer = client.post("/api/sessions/tooled/messages", json={"messages": messages})
        decided = answer.json()["decisions"][3]
        path = f"/api/decisions/{decided['id']}/label"
        client.put(path, json={"label": "wrong", "note": "fine"}).raise_for_status()
        (line,) = exported(client)
    conversation = native.parse(line["conversation"])
    assert conversation.messages == HIJACKED.messages[:4]
    assert [tool.name for tool in conversation.tools] == ["read_file"]
    assert line["complete"] is True
    assert {**line["decision"], "approval": None} == {**decided, "approval": None}
    assert (line["label"]["label"], line["label"]["note"]) == ("wrong", "fine")


def test_deleted_decisions_are_left_out_of_an_export(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("taskshield.server.routes.api.labels._BATCH", 2)
    store = MemoryStore()
    with served(store) as client:
        decisions = hijacked(client)
        for decision in decisions:
            path = f"/api/decisions/{decision['id']}/label"
            client.put(path, json={"label": "right"}).raise_for_status()
        assert [len(line["conversation"]["messages"]) for line in exported(client)] == [
            5,
            4,
            3,
            2,
            1,
        ]
        store._records.remove(TENANT, decisions[0]["id"])
        store._sessions.remove(TENANT, "s")
        lines = exported(client)
    assert [line["label"]["decision"] for line in lines] == [
        decision["id"] for decision in decisions[:0:-1]
    ]
    assert {line["complete"] for line in lines} == {False}
    assert {len(line["conversation"]["tools"]) for line in lines} == {0}


def test_without_texts_there_is_nothing_to_export() -> None:
    with served(store_texts=False) as client:
        path = f"/api/decisions/{hijacked(client)[0]['id']}/label"
        client.put(path, json={"label": "right"}).raise_for_status()
        assert exported(client) == []
