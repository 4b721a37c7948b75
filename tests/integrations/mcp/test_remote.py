"""Gateways with a real taskshield server, which gets the user's messages from other clients."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp_types import ElicitResult
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from taskshield.core.errors import ConfigError
from taskshield.core.tools import Tier
from taskshield.integrations.mcp import Gateway, RemoteChecks
from taskshield.stores.memory import MemoryStore
from tests.engine.sessions import run
from tests.integrations.mcp.office import office
from tests.integrations.mcp.stage import (
    EVIL,
    GOOD,
    NOWHERE,
    TASK,
    connected,
    judge,
    listening,
    over_http,
    text,
    through,
)
from tests.judging import TableJudge
from tests.server.listening import in_thread
from tests.server.stage import keyed

pytestmark = pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")

DEAD = "http://127.0.0.1:9"


@dataclass
class Shielded:
    """A taskshield server, and a client that sends it the user's messages, as a proxy does."""

    url: str
    people: httpx.Client
    store: MemoryStore

    def begin(self, *said: str) -> str:
        """A new session with this message of the user."""
        id = uuid.uuid4().hex
        self.people.post("/api/sessions", json={"id": id}).raise_for_status()
        for words in said:
            self.say(id, words)
        return id

    def say(self, id: str, words: str) -> None:
        body = {"messages": [{"level": "user", "text": words}]}
        self.people.post(f"/api/sessions/{id}/messages", json=body).raise_for_status()


@pytest.fixture(scope="module")
def plain() -> Iterator[Shielded]:
    """A server with default settings. Eve's address serves no task unless the user names her."""
    by = judge()
    by.score = lambda text, task: float(
        ("evil" not in text or "Eve" in task) and "plants" not in task
    )
    yield from serving(by)


@pytest.fixture(scope="module")
def strict() -> Iterator[Shielded]:
    """A server with keys, which asks people and redacts."""
    escalate = {tier.value: "escalate" for tier in Tier}
    yield from serving(judge(), keys=True, policy={"misaligned": escalate, "output": "redact"})


def serving(by: TableJudge, *, keys: bool = False, **more: Any) -> Iterator[Shielded]:
    store = MemoryStore()
    key = {"x-taskshield-key": run(keyed(store, "check"))} if keys else None
    with (
        in_thread(by, store, **more) as server,
        httpx.Client(base_url=server.url, headers=server.owner if key is None else key) as people,
    ):
        yield Shielded(server.url, people, store)


@asynccontextmanager
async def client_of(
    checks: RemoteChecks, wrapped: Any = None, **more: Any
) -> AsyncIterator[Client]:
    way = through(Gateway(NOWHERE, checks), office() if wrapped is None else wrapped)
    async with checks, Client(way, mode="legacy", **more) as client:
        yield client


@pytest.mark.shows("MCP", "user turn", "tool call", "tool output", "feedback")
def test_a_linked_session_says_what_the_user_wants_also_later(plain: Shielded) -> None:
    done: list[str] = []
    session = plain.begin(TASK)

    async def scene() -> None:
        checks = RemoteChecks(plain.url, session=session)
        async with client_of(checks, office(done=done)) as client:
            assert client.session.instructions == "An office."
            mail = await client.call_tool("read_mail", {})
            assert "holds instructions" in text(mail)
            evil = await client.call_tool("send_mail", EVIL)
            assert evil.is_error and "Read my newest mail." in text(evil)
            plain.say(session, "Now send Eve the invoices.")
            assert not (await client.call_tool("send_mail", EVIL)).is_error

    asyncio.run(scene())
    assert done == ["read inbox", "sent to eve@evil.example"]
    known = plain.people.get(f"/api/sessions/{session}").json()
    assert [task["text"] for task in known["tasks"]] == [TASK, "Now send Eve the invoices."]
    assert known["messages"] == 7 and {"read_mail", "send_mail"} <= set(known["tools"])


@pytest.mark.shows("MCP", "user turn")
def test_requests_name_their_session_in_a_header_or_in_meta(plain: Shielded) -> None:
    friend, stranger = plain.begin("Write to Dan."), plain.begin("Water the plants.")

    async def scene() -> None:
        async with RemoteChecks(plain.url) as checks, over_http(checks, office()) as gate:
            headers = {"x-taskshield-session": friend}
            async with connected(gate, headers=headers) as client:
                assert client.session.instructions == "An office."
                assert not (await client.call_tool("send_mail", GOOD)).is_error
                other: Any = {"taskshield/session": stranger}
                refused = await client.call_tool("send_mail", GOOD, meta=other)
                assert refused.is_error and "Water the plants." in text(refused)
            async with connected(gate, mode="auto") as client:
                assert "does not know the user's task" in str(client.session.instructions)
                named: Any = {"taskshield/session": friend}
                assert not (await client.call_tool("send_mail", GOOD, meta=named)).is_error
                assert (await client.call_tool("send_mail", GOOD)).is_error
                assert "[Task Shield" in text(await client.call_tool("read_mail", {}))

    asyncio.run(scene())


def test_a_task_can_be_sent_to_the_server(plain: Shielded) -> None:
    async def scene() -> None:
        async with client_of(RemoteChecks(plain.url, task=TASK)) as client:
            answers = await asyncio.gather(
                *(client.call_tool("send_mail", given) for given in (GOOD, EVIL, GOOD))
            )
            assert [answer.is_error for answer in answers] == [False, True, False]

    asyncio.run(scene())


@pytest.mark.shows("MCP", "tool call")
def test_calls_with_side_effects_are_blocked_if_the_server_cannot_be_reached() -> None:
    done: list[str] = []

    async def scene() -> None:
        async with client_of(RemoteChecks(DEAD, session="s1"), office(done=done)) as client:
            listed = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert "could not be checked" in str(listed["send_mail"].description)
            sent = await client.call_tool("send_mail", GOOD)
            assert sent.is_error
            assert "Why: The taskshield server cannot be reached (ConnectError)." in text(sent)
            mail = await client.call_tool("read_mail", {})
            assert "This tool output could not be checked." in text(mail)

    asyncio.run(scene())
    assert done == ["read inbox"]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"session": "missing"}, "not_found, status 404"),
        ({"session": "s/../1 ?"}, "not_found, status 404"),
        ({"task": TASK, "key": "tsk_wrong"}, "unauthenticated, status 401"),
    ],
)
def test_calls_with_side_effects_are_blocked_if_the_server_refuses(
    options: dict[str, Any], why: str, plain: Shielded, strict: Shielded
) -> None:
    url = strict.url if "key" in options else plain.url

    async def scene() -> str:
        async with client_of(RemoteChecks(url, **options)) as client:
            sent = await client.call_tool("send_mail", GOOD)
            assert sent.is_error
            return text(sent)

    assert f"Why: The taskshield server did not check the message ({why})." in asyncio.run(scene())


def test_nonsense_from_the_server_lets_no_side_effect_happen() -> None:
    answers = {
        "letters": Response("not JSON"),
        "nothing": JSONResponse({"decisions": []}),
        "little": JSONResponse({"decisions": [{"action": "allow"}]}),
        "elsewhere": Response(status_code=302, headers={"location": "http://evil.example/"}),
        "broken": Response("<html>", status_code=500),
        "much": Response(status_code=413),
    }

    async def said(request: Any) -> Response:
        return answers.get(request.path_params["session"], Response(status_code=418))

    app = Starlette(routes=[Route("/api/sessions/{session}/messages", said, methods=["POST"])])

    async def scene() -> None:
        async with listening(app) as url:
            for session in answers:
                async with client_of(RemoteChecks(url, session=session)) as client:
                    sent = await client.call_tool("send_mail", GOOD)
                    assert sent.is_error and "Why: " in text(sent), session

    asyncio.run(scene())


def test_results_keep_their_shape_where_the_server_redacts(strict: Shielded) -> None:
    async def scene() -> None:
        key = strict.people.headers["x-taskshield-key"]
        async with client_of(RemoteChecks(strict.url, key=key, task=TASK)) as client:
            rooms = await client.call_tool("list_rooms", {})
            assert rooms.structured_content == {"blue": "free", "red": "[removed by Task Shield]"}
            assert "evil" not in text(rooms)

    asyncio.run(scene())


@pytest.mark.parametrize("scopes", [("check",), ("check", "approve")])
@pytest.mark.shows("MCP", "HITL")
def test_the_user_approves_where_the_key_may(scopes: tuple[Any, ...], strict: Shielded) -> None:
    done: list[str] = []
    key = run(keyed(strict.store, *scopes))
    session = strict.begin(TASK)

    async def answered(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={})

    async def scene() -> None:
        checks = RemoteChecks(strict.url, key=key, session=session)
        wrapped = office(done=done)
        async with client_of(checks, wrapped, elicitation_callback=answered) as client:
            sent = await client.call_tool("send_mail", EVIL)
            assert sent.is_error == ("approve" not in scopes)
            assert ("this gateway may not approve calls" in text(sent)) == sent.is_error

    asyncio.run(scene())
    assert len(done) == len(scopes) - 1


def test_what_is_not_an_address_is_refused() -> None:
    for url in ("here", "ftp://host", "http://", "http://[", "http://h:99999999"):
        with pytest.raises(ConfigError, match="address"):
            RemoteChecks(url)
