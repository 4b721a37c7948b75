"""Logged exchanges with a model: a request and its response in one record.

{"request": {"messages": [...]}, "response": {"choices": [...]}}, in the wire formats of OpenAI chat
completions, OpenAI Responses or Anthropic messages. Request and response may be wrapped in `body`
or be JSON text; the request may be the record itself. `assembly` groups exchanges into
conversations.
"""

from collections.abc import Mapping
from typing import Any

from taskshield.adapters.conversations import detect, openai_responses
from taskshield.adapters.parsing.json_reader import Field
from taskshield.adapters.parsing.nested_json import parse_nested
from taskshield.adapters.traces import any_messages
from taskshield.adapters.traces.assembly import Piece, TraceStep
from taskshield.core.levels import Level
from taskshield.core.messages import Conversation, Message, digest

_NAMES = ("conversation_id", "conversation", "thread_id", "session_id")
_SHORT = 16
_BODIES = ("body", "json", "payload")


def is_exchange(payload: object) -> bool:
    """Whether this is a request together with its response."""
    if not isinstance(payload, dict) or "response" not in payload:
        return False
    return any(key in payload for key in ("request", "messages", "input"))


def read(exchange: Field, number: int) -> Piece:
    """One exchange.

    Args:
        exchange: The record.
        number: Its place in the log, which stands for the time.

    Raises:
        WireFormatError: It is not an exchange; the message names the path.
    """
    own = exchange["request"] if exchange["request"].given else exchange
    request = _body(own, "request")
    asked = _asked(request)
    said = any_messages.answered(_response(exchange["response"]))
    name = _name(exchange) or _name(request)
    step = TraceStep(
        kind="model",
        id=str(number),
        turn=str(number),
        start=float(number),
        end=float(number),
        given=asked.messages,
        answered=said,
        tools=asked.tools,
    )
    return Piece(group=name or _opening(asked.messages), named=bool(name), step=step)


def _asked(request: Field) -> Conversation:
    body: Mapping[str, Any] = request.mapping()
    if "messages" not in body and "input" in body:
        return openai_responses.parse({**body})
    return detect.parse({**body}).conversation


def _response(response: Field) -> Field:
    """The response; one that failed holds no words of the model."""
    body = _body(response, "response") if response.given else response
    failed = isinstance(body.value, dict) and bool(body.value.get("error"))
    return Field(value=None, key="response") if failed else body


def _body(field: Field, key: str) -> Field:
    """What was sent, without what a log wraps around it."""
    body = parse_nested(field.value, key)
    for inner in _BODIES:
        if isinstance(body.value, dict) and body[inner].given:
            return parse_nested(body[inner].value, key)
    return body


def _name(field: Field) -> str:
    names = (field[key].value for key in _NAMES)
    return next((name for name in names if isinstance(name, str) and name), "")


def _opening(messages: tuple[Message, ...]) -> str:
    """A key that all exchanges of a conversation share: a digest up to the first user message."""
    texts: list[str] = []
    for message in messages:
        texts.append(message.text)
        if message.level is Level.USER:
            break
    return digest(*texts)[:_SHORT]
