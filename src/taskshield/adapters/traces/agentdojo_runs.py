"""Reads runs in AgentDojo's own log format."""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from taskshield.adapters.parsing.json_reader import Field, checked, json_text
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall, text_message

_ROLES = {level.value: level for level in Level}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """One run of a real agent, as it was published."""

    suite: str
    pipeline: str
    """Model and defence."""
    user_task: str
    injection_task: str | None
    attack: str | None
    """None for a clean run."""
    version: str | None = None
    """Of the suites; older records do not tell."""
    injections: Mapping[str, str] = field(default_factory=dict)
    """The texts that the attacker injected, by slot."""
    system: str
    messages: tuple[Message, ...]
    """All but the system message, in order."""
    error: bool
    """Whether the run ended with an error, so that its transcript means little."""
    utility: bool
    hijacked: bool
    """Whether the attacker's goal was reached; never true of a clean run."""


def parse(payload: object) -> RecordedRun:
    """Read one run.

    Raises:
        WireFormatError: It is not a run; the message names the path.
    """
    root = checked(Field(value=payload, key="run"))
    attack = root["attack_type"].text_or("none")
    clean = attack == "none"
    messages = list(root["messages"].elements())
    system = [_text(each) for each in messages if each["role"].choice(_ROLES) is Level.SYSTEM]
    others = [each for each in messages if each["role"].choice(_ROLES) is not Level.SYSTEM]
    injections = root["injections"].members() if root["injections"].given else ()
    return RecordedRun(
        suite=root["suite_name"].text(),
        pipeline=root["pipeline_name"].text(),
        user_task=root["user_task_id"].text(),
        injection_task=None if clean else root["injection_task_id"].text(),
        attack=None if clean else attack,
        version=root["benchmark_version"].text_or("") or None,
        injections={str(slot.key): slot.text() for slot in injections},
        system="\n\n".join(system),
        messages=tuple(_messages(others)),
        error=root["error"].given,
        utility=bool(root["utility"].flag()),
        hijacked=not clean and bool(root["security"].flag()),
    )


def _messages(messages: list[Field]) -> Iterator[Message]:
    """The messages; calls whose id is missing or was used before get one of our own."""
    waiting: dict[str, deque[str]] = {}
    for number, message in enumerate(messages):
        level = message["role"].choice(_ROLES)
        parts = text_message(level, _text(message)).parts
        if level is Level.TOOL:
            open_calls = waiting.get(message["tool_call_id"].text_or(""))
            answers = open_calls.popleft() if open_calls else None
            failed = message["error"].given
            if failed:  # AgentDojo shows the agent the error in place of the empty output
                parts = text_message(level, message["error"].text()).parts
            yield Message(level=level, parts=parts, answers=answers, is_error=failed)
            continue
        calls = []
        for position, call in enumerate(message["tool_calls"].elements()):
            given = call["id"].text_or("")
            id = given if given and given not in waiting else f"call-{number}-{position}"
            waiting.setdefault(given, deque()).append(id)
            arguments = json_text(call["args"]) if call["args"].mapping() else "{}"
            calls.append(ToolCall(id=id, name=call["function"].text(), arguments=arguments))
        yield Message(level=level, parts=parts, tool_calls=tuple(calls))


def _text(message: Field) -> str:
    content = message["content"]
    if isinstance(content.value, str):
        return content.value
    return "\n".join(part["content"].text_or("") for part in content.elements())
