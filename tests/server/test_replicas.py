"""Replicas: real servers on one real Postgres, behind a client that uses them in turn."""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
import pytest

from taskshield import Shield
from taskshield.adapters.conversations.detect import parse
from taskshield.adapters.conversations.native import render
from taskshield.cli.main import main
from taskshield.core.decisions import Decision
from taskshield.core.store import StoredSession
from taskshield.stores.open_store import open_store
from tests.adapters.azure.test_task_adherence import call as azure_call
from tests.adapters.azure.test_task_adherence import message, request
from tests.engine.sessions import run
from tests.server.listening import Process, in_process, in_terminal, person
from tests.server.stage import call, user, wire
from tests.stores.postgres_server import PostgresServer

EXAMPLE = json.loads((Path(__file__).parents[2] / "examples" / "hijacked.json").read_text())
TOLD = parse(EXAMPLE).conversation
TOOLS = render(TOLD)["tools"]
PATIENCE_S = 60
"""How long a client waits for an answer: other tests may keep the processors busy."""


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    server = PostgresServer()
    try:
        yield server
    finally:
        server.remove()


class Replicas:
    """Servers on one database. Each request goes to the next one that is alive."""

    def __init__(self, *processes: Process) -> None:
        self.processes = processes
        self.clients = [person(each, timeout=PATIENCE_S) for each in processes]
        self._turns = cycle(self.clients)

    def __enter__(self) -> "Replicas":
        return self

    def __exit__(self, *_: object) -> None:
        for client in self.clients:
            client.close()

    def post(self, path: str, body: Any = None) -> Any:
        """Send a request like a load balancer: to the next replica where one does not listen."""
        for _ in self.clients:
            try:
                answer = next(self._turns).post(path, json=body)
            except httpx.ConnectError:
                continue
            answer.raise_for_status()
            return answer.json()
        raise AssertionError("no replica is left")


def started(url: str, stack: ExitStack, *options: str, **environment: str) -> Replicas:
    given = {"TASKSHIELD_SERVER__STORE": url, **environment}
    processes = [stack.enter_context(in_terminal(*options, **given)) for _ in range(2)]
    return stack.enter_context(Replicas(*processes))


def said_one_by_one(replicas: Replicas, session: str) -> list[dict[str, Any]]:
    """The decisions on the example, one request for each message."""
    replicas.post("/api/sessions", {"id": session, "tools": TOOLS})
    return [
        replicas.post(f"/api/sessions/{session}/messages", {"messages": wire(message)})[
            "decisions"
        ][0]
        for message in TOLD.messages
    ]


def outcome(decisions: Sequence[dict[str, Any]]) -> list[object]:
    return [
        (
            each["number"],
            each["action"],
            each["content"].replace(each["id"], "ID"),
            [(found["instruction"]["text"], found["total"]) for found in each["findings"]],
            each["round"],
        )
        for each in decisions
    ]


def library_outcome(decisions: Sequence[Decision]) -> list[object]:
    return [
        (
            each.case.index,
            each.action,
            each.content.replace(each.id, "ID"),
            [(found.instruction.text, found.total) for found in each.findings],
            each.round,
        )
        for each in decisions
    ]


def test_a_session_on_two_replicas_is_judged_like_on_one_and_in_the_library(
    postgres: PostgresServer,
) -> None:
    with ExitStack() as stack:
        replicas = started(postgres.new_url(), stack)
        hopping = said_one_by_one(replicas, "hopping")
        with Replicas(replicas.processes[0]) as one:
            staying = said_one_by_one(one, "staying")
    with Shield() as shield:
        session = shield.session(tools=TOLD.tools)
        expected = [session.add(message) for message in TOLD.messages]
    assert outcome(hopping) == outcome(staying) == library_outcome(expected)
    assert "revise" in {decision.action for decision in expected}


def test_a_conversation_without_a_session_can_change_replicas_as_well(
    postgres: PostgresServer,
) -> None:
    path = "/contentsafety/agent:analyzeTaskAdherence?api-version=2025-09-15-preview"
    evil = azure_call("send_money", '{"to": "Eve", "amount": 5000}')
    body = request(
        message("User", "Read my notes."), message("Assistant", "Yes.", toolCalls=[evil])
    )
    with ExitStack() as stack:
        replicas = started(postgres.new_url(), stack, "--judge", "block-side-effects")
        risky = [replicas.post(path, body)["taskRiskDetected"] for _ in range(4)]
        assert risky == [True] * 4
        found = [client.get("/api/decisions").json()["items"] for client in replicas.clients]
    assert len(found[0]) == 2 and found[0] == found[1]  # judged once, by one of them


def test_an_approval_of_one_replica_can_be_given_at_the_other(
    postgres: PostgresServer,
) -> None:
    escalate = {"TASKSHIELD_POLICY__MISALIGNED__FINANCIAL": "escalate"}
    with ExitStack() as stack:
        replicas = started(postgres.new_url(), stack, "--judge", "block-side-effects", **escalate)
        here, there = replicas.clients
        held_call = wire(call("send_money", path="rent"))
        assert here.post("/api/sessions", json={"id": "s"}).status_code == 201
        checked = here.post(
            "/api/sessions/s/messages", json={"messages": [*wire(user()), *held_call]}
        ).json()["decisions"][1]
        approval = f"/api/approvals/{checked['approval']}"
        with ThreadPoolExecutor() as pool:
            waiting = pool.submit(here.get, approval, params={"wait": 30}, timeout=60)
            decided = there.post(f"{approval}/approve").json()
            assert decided["status"] == "approved"
            assert waiting.result(60).json() == decided
        again = [
            replicas.post("/api/sessions/s/messages", {"messages": held_call}) for _ in range(2)
        ]
        assert [each["decisions"][0]["allowed"] for each in again] == [True, False]


def test_a_key_made_while_replicas_run_is_valid_at_all_and_needed_at_all(
    postgres: PostgresServer, capsys: pytest.CaptureFixture[str]
) -> None:
    url = postgres.new_url()
    with ExitStack() as stack:
        replicas = started(url, stack, "--judge", "allow-all")
        assert [client.get("/api/sessions").status_code for client in replicas.clients] == [200] * 2
        assert main(["keys", "create", "--name", "k", "--tenant", "mine", "--store", url]) == 0
        key = {"x-taskshield-key": capsys.readouterr().out.strip()}
        for client in replicas.clients:
            created = client.post("/api/sessions", json={"id": "s"}, headers=key)
            assert created.status_code == (201 if client is replicas.clients[0] else 409)
            while client.get("/api/sessions").status_code != 401:  # for a few seconds at most
                pass


def test_acknowledged_decisions_of_a_killed_replica_are_kept_by_the_other(
    postgres: PostgresServer,
) -> None:
    with ExitStack() as stack:
        replicas = started(postgres.new_url(), stack, "--judge", "allow-all")
        replicas.post("/api/sessions", {"id": "s"})
        told: list[dict[str, Any]] = []

        def say(number: int) -> None:
            body = {"messages": wire(user(f"Task {number}."))}
            try:
                told.extend(replicas.post("/api/sessions/s/messages", body)["decisions"])
            except httpx.TransportError:
                pass  # it was killed while it answered; whether it has decided is open

        for number in range(40):
            if number == 20:
                with ThreadPoolExecutor() as pool:
                    under_way = pool.map(say, range(100, 104))
                    replicas.processes[0].running.kill()
                    list(under_way)
                replicas.processes[0].running.wait()
            say(number)
        survivor = replicas.clients[1]
        session = survivor.get("/api/sessions/s").json()
        kept = survivor.get("/api/decisions", params={"limit": 200}).json()["items"]
        assert {decision["id"] for decision in told} <= {record["id"] for record in kept}
        assert len(told) >= 40
        numbers = [record["number"] for record in kept]
        assert sorted(numbers) == list(range(session["messages"]))  # none twice, none left out
        for decision in told:
            replayed = survivor.post(f"/api/decisions/{decision['id']}/replay").json()
            assert replayed == {"same": True, "decision": decision}
        assert [client.get("/healthz").status_code for client in replicas.clients[1:]] == [200]


def test_replicas_that_write_to_one_session_at_once_lose_nothing(postgres: PostgresServer) -> None:
    with ExitStack() as stack:
        replicas = started(postgres.new_url(), stack, "--judge", "allow-all")
        replicas.post("/api/sessions", {"id": "s"})

        def say(number: int) -> int:
            client = replicas.clients[number % 2]
            while True:  # as a client does that is told to try again
                body = {"messages": wire(user(f"Task {number}."))}
                answer = client.post("/api/sessions/s/messages", json=body)
                if answer.status_code != 503:
                    answer.raise_for_status()
                    return int(answer.json()["decisions"][0]["number"])

        with ThreadPoolExecutor(4) as pool:
            numbers = sorted(pool.map(say, range(24)))
        assert numbers == list(range(24))


def test_replicas_prune_at_once(postgres: PostgresServer) -> None:
    url = postgres.new_url()
    old, kept = 1_200, 5

    async def fill() -> None:
        store = await open_store(url)
        now = datetime.now(UTC)
        for number in range(old + kept):
            at = now - timedelta(days=60 if number < old else 0)
            await store.commit(
                StoredSession(
                    tenant=f"t{number % 3}",
                    id=str(number),
                    version=1,
                    state="{}",
                    created_at=at,
                    updated_at=at,
                ),
                [],
            )
        await store.aclose()

    async def left() -> int:
        store = await open_store(url)
        pages = [await store.sessions(f"t{number}", limit=200) for number in range(3)]
        await store.aclose()
        return sum(len(page.items) for page in pages)

    run(fill())
    with ExitStack() as stack, ThreadPoolExecutor() as pool:
        processes = [
            pool.submit(
                stack.enter_context,
                in_process("--judge", "allow-all", TASKSHIELD_SERVER__STORE=url),
            )
            for _ in range(2)
        ]
        running = [each.result() for each in processes]
        pruned = [_pruned(process) for process in running]
    assert sum(pruned) == old
    assert run(left()) == kept


def _pruned(process: Process) -> int:
    """Number of rows that a server deleted at its start; fails where the deletion failed."""
    while True:
        for line in [json.loads(line) for line in process.lines]:
            assert line["event"] != "pruning failed"
            if line["event"] == "pruned":
                return int(line["rows"])
