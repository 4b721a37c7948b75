"""Behaviour that only a real socket, thread or process shows."""

import json
import signal
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
import pytest

from taskshield import Shield
from taskshield.adapters.conversations.detect import parse
from taskshield.adapters.conversations.native import render
from taskshield.core.store import AuditQuery, Store
from taskshield.core.tools import Tier
from taskshield.stores.memory import MemoryStore
from taskshield.stores.open_store import open_store
from tests.engine.sessions import run
from tests.server.listening import Gated, in_process, in_terminal, in_thread, person
from tests.server.stage import TENANT, call, judge, keyed, user, wire

EXAMPLES = Path(__file__).parents[2] / "examples"
CANARY = "sk-proj-" + "Zq9Xw8Vu" * 5


def decided(store: Store) -> int:
    return len(run(store.search(TENANT, AuditQuery())).items)


def post(client: httpx.Client, path: str, body: Any) -> Any:
    answer = client.post(path, json=body)
    answer.raise_for_status()
    return answer.json()


def test_what_was_acknowledged_survives_a_crash(tmp_path: Path) -> None:
    options = ("--judge", "allow-all", "--store", f"sqlite:///{tmp_path / 'store.db'}")
    with (
        in_terminal(*options) as first,
        person(first) as client,
    ):
        post(client, "/api/sessions", {"id": "s"})
        checked = post(client, "/api/sessions/s/messages", {"messages": wire(user(), call())})
        first.running.kill()
        first.running.wait()
    with (
        in_terminal(*options) as second,
        person(second) as client,
    ):
        assert client.get("/api/sessions/s").json()["messages"] == 2
        for decision in checked["decisions"]:
            again = post(client, f"/api/decisions/{decision['id']}/replay", None)
            assert again == {"same": True, "decision": decision}


def test_a_session_on_two_processes_is_judged_like_on_one(tmp_path: Path) -> None:
    said = json.loads((EXAMPLES / "hijacked.json").read_text())
    told = parse(said).conversation
    with Shield() as shield:
        session = shield.session(tools=told.tools)
        expected = [session.add(message) for message in told.messages]
    options = ("--store", f"sqlite:///{tmp_path / 'store.db'}")
    with (
        in_process(*options) as left,
        in_process(*options) as right,
        httpx.Client(base_url=left.url) as first,
        httpx.Client(base_url=right.url) as second,
    ):
        post(first, "/api/sessions", {"id": "s", "tools": render(told)["tools"]})
        clients = cycle([second, first])
        found = [
            post(next(clients), "/api/sessions/s/messages", {"messages": wire(message)})
            for message in told.messages
        ]
    decisions = [each["decisions"][0] for each in found]
    assert [each["action"] for each in decisions] == [each.action for each in expected]
    assert "revise" in {each.action for each in expected}
    for there, here in zip(decisions, expected, strict=True):
        assert [each["total"] for each in there["findings"]] == pytest.approx(
            [each.total for each in here.findings]
        )
        assert there["content"].replace(there["id"], "") == here.content.replace(here.id, "")


def test_a_process_that_gets_a_stop_signal_ends_cleanly(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'store.db'}"
    with in_process("--store", store) as process, httpx.Client(base_url=process.url) as client:
        while client.get("/readyz").status_code != 200:
            pass
        process.running.send_signal(signal.SIGTERM)
        assert process.running.wait(30) == -signal.SIGTERM
    assert any("Application shutdown complete" in line for line in process.lines)


def test_an_open_request_is_answered_before_the_server_stops() -> None:
    gated, store = Gated(), MemoryStore()
    with in_thread(gated, store) as server, ThreadPoolExecutor() as pool:
        with httpx.Client(base_url=server.url) as client:
            post(client, "/api/sessions", {"id": "s"})
            body = {"messages": wire(user("Wait at the gate."))}
            asked = pool.submit(post, client, "/api/sessions/s/messages", body)
            assert gated.began.wait(30)
            server.stop()
            refused_at_last(server.port)
            gated.gate.set()
            assert asked.result(30)["decisions"][0]["allowed"]
    assert decided(store) == 1


def refused_at_last(port: int) -> None:
    """Wait until the port accepts no connections any more."""
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            return


def test_a_request_that_waits_for_approval_ends_when_the_server_stops() -> None:
    escalate = {"misaligned": {tier.value: "escalate" for tier in Tier}}
    store = MemoryStore()
    with (
        in_thread(judge(), store, policy=escalate) as server,
        ThreadPoolExecutor() as pool,
        httpx.Client(base_url=server.url, timeout=50) as client,
    ):
        post(client, "/api/sessions", {"id": "s"})
        said = wire(user(), call("send_money", path="evil"))
        checked = post(client, "/api/sessions/s/messages", {"messages": said})
        path = f"/api/approvals/{checked['decisions'][1]['approval']}"
        waiting = pool.submit(client.get, path, params={"wait": 45})
        asked = threading.Event()
        asked.wait(0.2)  # whichever comes first, the answer is the same
        server.stop()
        assert waiting.result(40).json()["status"] == "pending"


def test_a_client_that_disconnects_does_not_undo_its_check() -> None:
    gated, store = Gated(), MemoryStore()
    with (
        in_thread(gated, store) as server,
        person(server) as client,
    ):
        post(client, "/api/sessions", {"id": "s"})
        body = b'{"messages": [{"level": "user", "text": "Wait at the gate."}]}'
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(
                b"POST /api/sessions/s/messages HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                b"Content-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
            )
            assert gated.began.wait(30)
        gated.gate.set()
        while client.get("/api/sessions/s").json()["messages"] != 1:
            pass
        assert decided(store) == 1


def test_a_body_that_never_ends_times_out() -> None:
    with (
        in_thread(judge(), MemoryStore(), limits={"request_s": 0.3}) as server,
        socket.create_connection(("127.0.0.1", server.port)) as connection,
    ):
        connection.sendall(
            b"POST /api/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            b'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"id'
        )
        connection.settimeout(30)
        answer = connection.recv(65_536)
        assert answer.startswith(b"HTTP/1.1 408 ") and b"request_timeout" in answer


@pytest.mark.parametrize("kind", ["key of ours", "key in the conversation"])
def test_secrets_are_in_no_log_error_or_store(kind: str, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"

    async def first_key() -> str:
        store = await open_store(url)
        made = await keyed(store, "check", "approve")
        await store.aclose()
        return made

    secret = run(first_key())
    answers: list[str] = []
    with in_process("--judge", "allow-all", "--store", url) as process:
        canary = secret if kind == "key of ours" else CANARY
        headers = {"x-taskshield-key": secret}
        others = {
            "authorization": f"Bearer {CANARY}",
            "x-api-key": CANARY,
            "ocp-apim-subscription-key": CANARY,
        }
        with httpx.Client(base_url=process.url, headers={**headers, **others}) as client:
            post(client, "/api/sessions", {"id": "s"})
            said = wire(user(f"My key is {CANARY}"), call(path=CANARY))
            client.post("/api/sessions/s/messages", json={"messages": said}).raise_for_status()
            wrong = [
                client.get(f"/api/sessions/{CANARY}"),
                client.get(f"/{CANARY}", params={"key": CANARY}),
                client.get("/api/settings"),
                client.post("/api/sessions", json={"id": CANARY * 9}),
                client.post("/api/sessions", json={CANARY: CANARY}),
                client.post("/api/sessions", content=CANARY),
                client.get("/api/sessions", headers={"x-taskshield-key": f"{secret}x"}),
            ]
            assert all(400 <= answer.status_code < 500 for answer in wrong)
            answers = [answer.text for answer in wrong]
        process.running.send_signal(signal.SIGTERM)
        process.running.wait(30)
    files = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"tsk_" not in files
    assert canary.encode() not in files and canary.encode()[-20:] not in files
    assert canary not in "".join(process.lines) + "".join(answers)
