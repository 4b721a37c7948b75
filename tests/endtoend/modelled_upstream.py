"""A loopback endpoint with the stand-in model behind it: right answers, and right ones spoiled."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from taskshield.core.chat import ChatRequest, ChatTurn
from tests.clients.providers import Provider
from tests.clients.upstream import Behaviour, Exchange, Seen, answer, by_request
from tests.model import Rules

Edit = Callable[[dict[str, Any]], object]
"""Changes an answer in place; what it returns does not matter."""


def chat_request(seen: Seen) -> ChatRequest:
    """The judge's request, read from the body of either API."""
    body = seen.body
    if seen.path.endswith("/chat/completions"):
        system, *turns = body["messages"]
        asked = body["response_format"]["json_schema"]
        return _request(system["content"], turns, asked["schema"], asked["name"], body)
    schema = body["output_config"]["format"]["schema"]
    return _request(body["system"], body["messages"], schema, _name(schema), body)


def _request(
    system: str,
    turns: list[dict[str, Any]],
    schema: Mapping[str, Any],
    name: str,
    body: Mapping[str, Any],
) -> ChatRequest:
    return ChatRequest(
        system=system,
        turns=tuple(ChatTurn(role=turn["role"], text=turn["content"]) for turn in turns),
        schema_name=name,
        schema=schema,
        max_tokens=body["max_tokens"],
    )


def _name(schema: Mapping[str, Any]) -> str:
    """The kind of question; Anthropic's API does not name it, but its schema shows it."""
    fields = schema["properties"]
    if "tasks" in fields:
        return "task_instructions"
    scored = "items" in fields or "scores" in fields["found"]["items"]["properties"]
    return "verdict" if scored else "instructions"


def modelled(rules: Rules, provider: Provider, told: Callable[[str], str] = str) -> Behaviour:
    """Answer as the stand-in does; `told` may change the text of its answer."""
    return by_request(lambda seen: answer(provider.ok(told(rules(chat_request(seen))))))


def spoiled(rules: Rules, provider: Provider, edit: Edit) -> Behaviour:
    """Answer as the stand-in does, but for one change to the JSON."""

    def edited(text: str) -> str:
        value = json.loads(text)
        edit(value)
        return json.dumps(value)

    return modelled(rules, provider, edited)


class Switch:
    """A behaviour that can be exchanged for another while the endpoint runs."""

    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour

    def __call__(self, exchange: Exchange) -> None:
        self.behaviour(exchange)


def drip(exchange: Exchange) -> None:
    """Send a blank now and then for as long as anyone listens, so that no read ever times out."""
    exchange.send(200, b"", {}, length=1_000_000)
    while not exchange.closing.wait(0.05):
        exchange.handler.wfile.write(b" ")
