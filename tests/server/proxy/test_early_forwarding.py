"""Requests that are sent to the provider while their outputs are judged."""

import asyncio
import functools
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import openai
import pytest

from taskshield.adapters.proxy.anthropic import body as anthropic_format
from taskshield.adapters.proxy.openai_chat import body as chat_format
from taskshield.adapters.proxy.openai_responses import body as responses_format
from taskshield.adapters.proxy.wire_format import WireFormat
from taskshield.core.assessments import Assessment
from taskshield.core.judge import SessionView
from taskshield.core.levels import Level
from taskshield.core.messages import Message
from taskshield.server.proxy.early_forwarding import EarlyForwarding
from taskshield.settings import load
from tests.adapters.proxy.sdks import Seen
from tests.adapters.proxy.streams import Said
from tests.judging import TableJudge
from tests.server.providers.scripted import PATIENCE_S, Exchange, Provider, status
from tests.server.proxy.agents import Agent, ChatAgent, Make, MessagesAgent, ResponsesAgent
from tests.server.proxy.stage import GOOD, INJECTED, TASK, client_request, proxied
from tests.server.proxy.test_guarding import asked_once, outputs
from tests.server.stage import Failing, judge

AHEAD = {"ahead": True}
WHOLE = pytest.mark.parametrize(
    "make",
    [
        functools.partial(kind, streams=streams)
        for kind in (ChatAgent, ResponsesAgent, MessagesAgent)
        for streams in (False, True)
    ],
)
"""Agents that send their whole conversation every time."""


@dataclass
class Slow(TableJudge):
    """A judge that reads outputs of tools only once `let` is set."""

    let: threading.Event = field(default_factory=threading.Event)

    async def assess(self, message: Message, view: SessionView) -> Assessment:
        if message.level is Level.TOOL:
            await asyncio.to_thread(self.let.wait, 20)
        return await super().assess(message, view)


def slow() -> Slow:
    return Slow(score=judge().score, directives=judge().directives)


def soon(fact: Callable[[], bool]) -> bool:
    """Whether it becomes true within ten seconds."""
    until = time.monotonic() + 10
    while not fact() and time.monotonic() < until:
        time.sleep(0.01)
    return fact()


@contextmanager
def asked_ahead(agent: Agent, text: str, by: Slow, provider: Provider) -> Iterator["Future[Seen]"]:
    """The answer that an agent waits for, while its request is forwarded but not yet judged."""
    agent.output(GOOD, text)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(agent.ask)
        assert soon(lambda: len(provider.asked) == 2), "not before it was judged"
        assert not answer.done(), "no client sees an answer to what is not judged yet"
        yield answer
        by.let.set()


@WHOLE
def test_a_clean_output_is_forwarded_while_it_is_judged(make: Make) -> None:
    by = slow()
    script = [Said(calls=[GOOD], id="1"), Said("It is 98.70.", id="2")]
    with Provider(*script) as provider, proxied(provider, by=by, upstream=AHEAD) as proxy:
        agent, _ = asked_once(make, proxy.url)
        with asked_ahead(agent, "Total: 98.70", by, provider) as answer:
            pass
        assert answer.result().texts == ("It is 98.70.",)
        assert len(provider.asked) == 2


@WHOLE
def test_the_early_answer_to_injected_text_is_dropped(make: Make) -> None:
    by = slow()
    script = [
        Said(calls=[GOOD], id="1"),
        Said("The evil thing is done.", id="2"),
        Said("It is 98.70.", id="3"),
        Said("You are welcome.", id="4"),
    ]
    with Provider(*script) as provider, proxied(provider, by=by, upstream=AHEAD) as proxy:
        agent, _ = asked_once(make, proxy.url)
        with asked_ahead(agent, INJECTED, by, provider) as answer:
            pass
        assert answer.result().texts == ("It is 98.70.",)
        told = [outputs(asked)[0] for asked in provider.asked[1:]]
        assert told[0] == INJECTED and told[1] != INJECTED and INJECTED in told[1]
        agent.user("Thanks!")
        assert agent.ask().texts == ("You are welcome.",)
        assert outputs(provider.asked[3])[0] == told[1], (
            "the output is known by now and is not forwarded early again"
        )
        assert len(provider.asked) == 4


def test_a_failed_check_closes_the_early_request() -> None:
    by, store = slow(), Failing()
    with (
        Provider(Said(calls=[GOOD]), Exchange.wait_for_leaving) as provider,
        proxied(provider, by=by, store=store, upstream=AHEAD) as proxy,
    ):
        agent, _ = asked_once(functools.partial(ChatAgent, streams=False), proxy.url)
        with asked_ahead(agent, "Total: 98.70", by, provider) as answer:
            store.gone = True
        with pytest.raises(openai.InternalServerError):
            answer.result()
        assert provider.exchanges[1].left.wait(PATIENCE_S)
        store.gone = False


def test_an_error_of_the_provider_is_passed_on_after_the_check() -> None:
    turns: list[dict[str, Any]] = [{"role": "user", "content": TASK}]
    error = status(429, {"error": {"message": "slow down"}})
    with (
        Provider(Said(calls=[GOOD]), error) as provider,
        proxied(provider, upstream=AHEAD) as proxy,
    ):
        url = f"{proxy.url}/v1/chat/completions"
        said = httpx.post(url, json={"messages": turns}).json()["choices"][0]["message"]
        turns += [said, {"role": "tool", "tool_call_id": GOOD.id, "content": "Total: 98.70"}]
        assert httpx.post(url, json={"messages": turns}).status_code == 429
        assert len(provider.asked) == 2


CHAT = {
    "model": "m",
    "stream": True,
    "messages": [
        {"role": "user", "content": TASK},
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "Total: 98.70"},
    ],
    "tools": [{"type": "function", "function": {"name": "f"}}],
}
RESPONSES = {
    "model": "m",
    "input": [
        {"role": "user", "content": TASK},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "Total: 98.70"},
    ],
    "tools": [{"type": "function", "name": "f"}, {"type": "custom", "name": "g"}],
}
ANTHROPIC = {
    "model": "m",
    "max_tokens": 99,
    "messages": [
        {"role": "user", "content": TASK},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {}}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "Total: 98.70"}],
        },
    ],
    "tools": [{"name": "f", "input_schema": {"type": "object"}}],
}


def may_go(wire_format: WireFormat, body: dict[str, Any], **settings: Any) -> bool:
    given = {"server": {"upstream": AHEAD}, **settings}
    request = client_request(wire_format, body)
    return EarlyForwarding(load(given, environment={})).allows(request)


@pytest.mark.parametrize(
    ("wire_format", "body"),
    [(chat_format, CHAT), (responses_format, RESPONSES), (anthropic_format, ANTHROPIC)],
)
def test_plain_requests_are_forwarded_early_where_that_is_enabled(
    wire_format: WireFormat, body: dict[str, Any]
) -> None:
    assert may_go(wire_format, body)
    assert not may_go(wire_format, body, server={}), "early forwarding is off by default"
    assert not may_go(wire_format, body, policy={"output": "redact"}), (
        "the provider must not see it at all"
    )


@pytest.mark.parametrize(
    ("wire_format", "body"),
    [
        (chat_format, {**CHAT, "web_search_options": {}}),
        (chat_format, {**CHAT, "something_new": True}),
        (responses_format, {**RESPONSES, "tools": [{"type": "web_search"}]}),
        (responses_format, {**RESPONSES, "tools": [{"type": "mcp", "server_label": "x"}]}),
        (responses_format, {**RESPONSES, "previous_response_id": "resp_1"}),
        (responses_format, {**RESPONSES, "conversation": "conv_1"}),
        (anthropic_format, {**ANTHROPIC, "mcp_servers": []}),
        (
            anthropic_format,
            {**ANTHROPIC, "tools": [{"type": "web_fetch_20250910", "name": "web_fetch"}]},
        ),
    ],
)
def test_no_early_forwarding_where_the_provider_may_do_more_than_answer(
    wire_format: WireFormat, body: dict[str, Any]
) -> None:
    assert not may_go(wire_format, body)
