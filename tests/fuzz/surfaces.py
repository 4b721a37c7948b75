"""The surfaces of the server, providers behind it, the MCP gateway and the hook's command."""

import io
import json
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from functools import partial
from itertools import count
from random import Random
from typing import Any
from unittest import mock

import anyio.from_thread
import httpx
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Receive, Scope, Send

from taskshield.cli import hook
from taskshield.core.tools import Tier
from taskshield.server.access.login_link import LoginLink
from taskshield.server.access.logins import COOKIE, CSRF_HEADER
from taskshield.server.app import create_app
from taskshield.settings import load
from taskshield.stores.memory import MemoryStore
from tests.fuzz import seeds
from tests.fuzz.target import Read, Target
from tests.integrations.mcp.wiretap import Wiretap, tapped
from tests.server.listening import in_thread
from tests.server.providers.scripted import Exchange, Provider
from tests.server.proxy.odd_answers.edits import recorded
from tests.server.proxy.stage import proxied
from tests.server.stage import HIJACKED, judge, wire

_HOST = "http://127.0.0.1:8787"
_JSON = {"content-type": "application/json"}
_EVALUATE = (
    "/contentsafety/agent:evaluate"
    "?api-version=2026-11-01-preview&targetResourceId=/subscriptions/1/agent"
)
_ADHERENCE = "/contentsafety/agent:analyzeTaskAdherence?api-version=2025-09-15-preview"
_PATHS: tuple[tuple[str, str, tuple[bytes, ...]], ...] = (
    ("POST", "/v1/chat/completions", seeds.CHAT),
    ("POST", "/v1/messages", seeds.ANTHROPIC),
    ("POST", "/v1/responses", seeds.RESPONSES),
    ("POST", _ADHERENCE, seeds.AZURE),
    ("POST", _EVALUATE, seeds.AGENT_HOOKS),
    ("POST", "/hooks/claude-code", seeds.CLAUDE_CODE),
    ("POST", "/api/playground", seeds.PLAYGROUND),
    ("POST", "/api/sessions", seeds.SESSIONS),
    ("POST", "/api/sessions/s/messages", seeds.MESSAGES),
    ("PUT", "/api/decisions/DECISION/label", seeds.LABELS),
    ("POST", "/page/login", seeds.LOGIN),
)


class _Log(logging.Handler):
    """The errors that a server logs: those of a stream reach no status."""

    def __init__(self) -> None:
        super().__init__()
        self._errors: list[BaseException] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the error of a record."""
        if record.exc_info is not None and record.exc_info[1] is not None:
            self._errors.append(record.exc_info[1])

    def check(self, status: int, text: str, *, provided: int = 0) -> str:
        """Raise what no one expected; else the status as text."""
        errors, self._errors = self._errors, []
        for error in errors:
            if not type(error).__module__.startswith("taskshield."):
                raise error
        assert status < 500 or status in (502, 503, provided), text
        assert "Traceback" not in text
        return f"{status} of the provider" if status == provided >= 400 else str(status)


@contextmanager
def _logged() -> Iterator[_Log]:
    log, root = _Log(), logging.getLogger()
    root.addHandler(log)
    try:
        yield log
    finally:
        root.removeHandler(log)


class _FromAnywhere:
    """Each request has an address of its own, or the server would limit wrong logins."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._numbers = count(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            high, low = divmod(next(self._numbers), 250)
            scope["client"] = (f"127.0.{high % 250}.{low + 1}", 1)
        await self._app(scope, receive, send)


@contextmanager
def _path(method: str, path: str) -> Iterator[Read]:
    """A path of the server, as its owner. A provider is not there: good requests get 502."""
    upstream = {"openai": "http://127.0.0.1:9", "anthropic": "http://127.0.0.1:9"}
    server = {"upstream": upstream, "limits": {"per_minute": None}}
    settings = load({"server": server, "policy": _ESCALATE}, environment={})
    link = LoginLink()
    owner = link.log_in(link.token)
    assert owner is not None
    app = create_app(settings, judge=judge(), store=MemoryStore(), link=link)
    headers = {CSRF_HEADER: owner.token, "origin": _HOST, **_JSON}
    with (
        _logged() as log,
        TestClient(_FromAnywhere(app), base_url=_HOST, headers=headers) as client,
    ):
        client.cookies.set(COOKIE, owner.cookie)
        client.post("/api/sessions", json={"id": "s"}).raise_for_status()
        said = {"messages": wire(*HIJACKED.messages)}
        answer = client.post("/api/sessions/s/messages", json=said).raise_for_status()
        url = path.replace("DECISION", answer.json()["decisions"][-1]["id"])

        def read(data: bytes) -> str:
            answer = client.request(method, url, content=data)
            return log.check(answer.status_code, answer.text)

        yield read


_ESCALATE = {"misaligned": {tier.value: "escalate" for tier in Tier}}


class _Answers:
    """What the provider says next."""

    content = b""
    streams = False
    status = 200

    def __call__(self, exchange: Exchange) -> None:
        if not self.streams or self.status != 200:
            exchange.send(self.content, status=self.status)
            return
        exchange.stream()
        random = Random(len(self.content))
        cuts = sorted(random.randrange(len(self.content) + 1) for _ in range(3))
        for start, end in zip([0, *cuts], [*cuts, len(self.content)], strict=True):
            if start < end:
                exchange.push(self.content[start:end])
        exchange.end()


@contextmanager
def _provider(path: str, asked: dict[str, Any], *, streams: bool) -> Iterator[Read]:
    """A provider that answers this path with anything; every seventh answer is an error."""
    answers = _Answers()
    answers.streams = streams
    body = {**asked, "stream": streams}
    with (
        _logged() as log,
        Provider(answers) as provider,
        proxied(provider, policy={"rounds": 1}) as proxy,
        httpx.Client(timeout=60) as client,
    ):

        def read(data: bytes) -> str:
            answers.content = data
            answers.status = (400, 429, 500, 529)[len(data) % 4] if len(data) % 7 == 0 else 200
            answer = client.post(proxy.url + path, json=body)
            return log.check(answer.status_code, answer.text, provided=answers.status)

        yield read


_CHAT = {"model": "m", "messages": [{"role": "user", "content": "Read the bill."}]}
_ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "/v1/chat/completions": ("chat", _CHAT),
    "/v1/messages": ("anthropic", {**_CHAT, "max_tokens": 9}),
    "/v1/responses": ("responses", {"model": "m", "input": "Read the bill."}),
}


@contextmanager
def _gateway(ask: Callable[[Callable[..., Any], Wiretap, bytes], str]) -> Iterator[Read]:
    """An MCP gateway in front of a server that is a real process."""
    silence = "taskshield.integrations.mcp.connections.pending._SILENCE_S"
    with (
        _logged() as log,
        mock.patch(silence, 0.1),
        anyio.from_thread.start_blocking_portal() as portal,
        portal.wrap_async_context_manager(tapped()) as tap,
    ):
        yield lambda data: log.check(0, "") and ask(portal.call, tap, data)
        log.check(0, "")
        assert "result" in portal.call(tap.call, "")  # it still serves


def _ask_gateway(call: Callable[..., Any], tap: Wiretap, data: bytes) -> str:
    """A request of an agent, which its SDK can send."""
    try:
        asked = json.loads(data)
        json.dumps(asked, allow_nan=False, ensure_ascii=False).encode()
        method, params = asked["method"], asked.get("params", {})
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return "not sent"
    if not isinstance(method, str) or not isinstance(params, dict):
        return "not sent"
    return _answered(call(tap.ask, method, params))


def _answer_gateway(call: Callable[..., Any], tap: Wiretap, data: bytes) -> str:
    """Any answer of the server; most of them are results of tools."""
    text = data.decode("utf-8", "replace").replace('"@"', "ID").replace("\n", " ")
    others = ("tools/list", "resources/read", "prompts/get", "completion/complete")
    method = dict(enumerate(others)).get(len(data) % 10, "tools/call")
    call(tap.ask, "tools/list", {})  # or the gateway would ask for its list with this echo, too
    params = {"name": "get_it", "uri": "u:", "_meta": {"echo": [text]}}
    return _answered(call(tap.ask, method, params))


def _answered(answer: dict[str, Any]) -> str:
    assert ("result" in answer) != ("error" in answer)
    if "result" in answer:
        return "result"
    message = answer["error"]["message"]
    assert "Traceback" not in message and "could not answer this" not in message, message
    return "error"


@contextmanager
def _hook() -> Iterator[Read]:
    """`taskshield hook claude-code`, whose events a server judges."""
    with in_thread(judge(), MemoryStore(), limits={"per_minute": None}) as server:
        options = hook.Options(config=None, store=None, url=server.url, key_env=None)

        def read(data: bytes) -> str:
            given = mock.Mock(buffer=io.BytesIO(data))
            with ExitStack() as stack:
                stack.enter_context(mock.patch.object(sys, "stdin", given))
                out = stack.enter_context(redirect_stdout(io.StringIO()))
                told = stack.enter_context(redirect_stderr(io.StringIO()))
                status = hook.run(options)
            assert status == 0 and "Traceback" not in told.getvalue()
            answer = json.loads(out.getvalue())
            return "stops the agent" if answer.get("continue") is False else "answers"

        yield read


SURFACES = (
    *(
        Target(f"{method} {path.partition('?')[0]}", good, partial(_path, method, path))
        for method, path, good in _PATHS
    ),
    *(
        Target(
            f"provider's {'stream' if streams else 'answer'} to {path}",
            (recorded(name, streams=streams), *(() if streams else seeds.ANSWERS[path])),
            partial(_provider, path, asked, streams=streams),
        )
        for path, (name, asked) in _ASKED.items()
        for streams in (False, True)
    ),
    Target("mcp gateway: requests", seeds.MCP_REQUESTS, partial(_gateway, _ask_gateway)),
    Target(
        "mcp gateway: answers of servers", seeds.MCP_ANSWERS, partial(_gateway, _answer_gateway)
    ),
    Target("taskshield hook claude-code", seeds.CLAUDE_CODE, _hook),
)
