"""Azure Content Safety, agent:analyzeTaskAdherence: the request, and the answer to it.

The request holds a whole conversation; the service keeps nothing. All messages are read in order,
to know the user's tasks and the output of the tools. The answer is about the agent's newest step:
the last assistant message since the user's last one, with the assistant messages directly before
it, whether or not outputs of its calls follow. Earlier steps were checked when they were new. An
agent that has revised its step must not be blocked for the step before. A conversation that ends
with a user message has no step to judge.

`taskRiskDetected` says whether policy blocks a part of this step: a call, or a plan in its text.
Under a policy that only observes, the answer is therefore false: a client would otherwise block
what policy allows. The audit and the detailed answer show the finding. A step that could not be
checked is an error, never "no risk".
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TypeVar

from taskshield.adapters.azure import details
from taskshield.adapters.conversations.host_text import messages_by_author
from taskshield.adapters.parsing import tool_specs
from taskshield.adapters.parsing.json_reader import (
    Field,
    arguments,
    call_id,
    filled,
    only_assistant_calls,
)
from taskshield.adapters.parsing.message_content import readable_parts, with_distinct_ids
from taskshield.adapters.parsing.request_body import root_of_body
from taskshield.adapters.parsing.tool_output import output_parts
from taskshield.core.decisions import Decision
from taskshield.core.errors import JudgeUnavailable
from taskshield.core.levels import Level
from taskshield.core.messages import Conversation, Message, Opaque, Part, Text, ToolCall

API_VERSIONS = frozenset({"2024-12-15-preview", "2025-09-15-preview"})
MAX_CHARACTERS = 100_000
"""Of all contents and all arguments together, in Unicode code points."""
DETAILS_HEADER = "x-taskshield-details"
"""A client that sends it with the value "true" gets scores and findings, too."""

_LEVELS = {
    "system": Level.SYSTEM,
    "developer": Level.SYSTEM,
    "user": Level.USER,
    "assistant": Level.ASSISTANT,
    "tool": Level.TOOL,
}
_SOURCES = {"prompt": None, "completion": None}
_EMPTY = "ContentItem Text cannot be null or empty"
_WITHOUT_TEXT = frozenset({Text(text=""), Opaque(kind="text")})

_T = TypeVar("_T")


def parse(body: bytes | object) -> Conversation:
    """Read a request: bytes, or the JSON in them.

    Lenient with what clients send: roles in any case, system messages, no tools, tools without a
    description, contents as a list, calls without id, type or arguments. Strict where Azure is.

    Raises:
        WireFormatError: The body is not in this format or too long; the message begins with the
            path of what is wrong.
    """
    root = root_of_body(body)
    if not isinstance(root.value, dict):
        raise root.wrong("an object")
    messages = messages_by_author(
        _message(field, index) for index, field in enumerate(root["messages"].elements())
    )
    if not messages:
        raise root["messages"].refused("at least one message is needed")
    if sum(map(_length, messages)) > MAX_CHARACTERS:
        raise root["messages"].refused(f"The text is longer than {MAX_CHARACTERS} characters")
    return Conversation(messages=messages, tools=tool_specs.read(root["tools"].elements()))


def wants_details(header: str | None) -> bool:
    """Whether the value of `DETAILS_HEADER` asks for the detailed answer."""
    return header is not None and header.strip().lower() in ("true", "1")


def render(decisions: Sequence[Decision], *, detailed: bool = False) -> dict[str, object]:
    """The answer, given the decisions on all messages of the conversation, in order.

    Raises:
        JudgeUnavailable: The newest step could not be checked.
    """
    step = newest_step(decisions)
    blocked = [decision for decision in step if _is_risk(decision)]
    if not blocked and any(decision.check == "failed" for decision in step):
        raise JudgeUnavailable("the agent's newest step could not be checked")
    answer: dict[str, object] = {"taskRiskDetected": bool(blocked)}
    if blocked:
        answer["details"] = details.sentences(blocked)
    if detailed:
        answer["taskshield"] = details.render(decisions, step)
    return answer


def newest_step(decisions: Sequence[Decision]) -> tuple[Decision, ...]:
    """The decisions that the answer is about."""
    turn = list(takewhile(lambda decision: _level(decision) is not Level.USER, decisions[::-1]))
    while turn and _level(turn[0]) is not Level.ASSISTANT:
        turn.pop(0)
    step = takewhile(lambda decision: _level(decision) is Level.ASSISTANT, turn)
    return tuple(step)[::-1]


def _level(decision: Decision) -> Level:
    return decision.case.message.level


def _is_risk(decision: Decision) -> bool:
    """Whether the step was blocked because of its content, and not because of an outage.

    An oversized step counts as a risk: its author chose the size.
    """
    outage = decision.outage
    return not decision.allowed and (outage is None or outage.kind == "oversized")


def _message(field: Field, index: int) -> Message:
    _word(field["source"], _SOURCES)
    level = _word(field["role"], _LEVELS)
    wire = field["toolCalls"]
    calls = [_call(call, index, number) for number, call in enumerate(wire.elements())]
    if calls and level is not Level.ASSISTANT:
        raise only_assistant_calls(field)
    return Message(
        level=level,
        parts=_parts(field["contents"], level),
        tool_calls=with_distinct_ids(calls, wire),
        answers=field["toolCallId"].text_or("") or None if level is Level.TOOL else None,
    )


def _word(field: Field, choices: Mapping[str, _T]) -> _T:
    """What one of a fixed set of words stands for, in whatever case it is written."""
    return replace(field, value=field.text().lower()).choice(choices)


def _parts(contents: Field, level: Level) -> tuple[Part, ...]:
    if not contents.given or contents.value in ("", []):
        raise contents.refused(_EMPTY)
    if not isinstance(contents.value, str | list):
        raise contents.wrong("a string or a list")
    if level is Level.TOOL:
        return filled(output_parts(contents))
    parts = tuple(readable_parts(contents))
    if not parts or not _WITHOUT_TEXT.isdisjoint(parts):
        raise contents.refused(_EMPTY)
    return parts


def _call(field: Field, index: int, number: int) -> ToolCall:
    function = field["function"]
    return ToolCall(
        id=call_id(field["id"], index, number),
        name=function["name"].text(),
        arguments=arguments(function["arguments"]),
    )


def _length(message: Message) -> int:
    return len(message.text) + sum(len(call.arguments) for call in message.tool_calls)
