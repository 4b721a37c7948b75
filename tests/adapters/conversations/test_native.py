import json
from dataclasses import fields
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskshield.adapters.conversations.native import parse, render
from taskshield.core.errors import WireFormatError
from taskshield.core.levels import Level
from taskshield.core.messages import Conversation, Message, Opaque, Text, ToolCall, text_message
from taskshield.core.tools import ToolAnnotations, ToolSpec

T = TypeVar("T")


def few(items: st.SearchStrategy[T]) -> st.SearchStrategy[tuple[T, ...]]:
    return st.lists(items, max_size=3).map(tuple)


TEXTS = st.text(st.characters(exclude_categories=()), max_size=6)
PARTS = few(st.builds(Text, text=TEXTS) | st.builds(Opaque, kind=TEXTS))
CALLS = few(st.builds(ToolCall, id=TEXTS, name=TEXTS, arguments=TEXTS))
MESSAGES = st.one_of(
    st.builds(Message, level=st.sampled_from([Level.SYSTEM, Level.USER]), parts=PARTS),
    st.builds(Message, level=st.just(Level.ASSISTANT), parts=PARTS, tool_calls=CALLS),
    st.builds(
        Message,
        level=st.just(Level.TOOL),
        parts=PARTS,
        answers=st.none() | TEXTS,
        is_error=st.booleans(),
    ),
)
HINTS = {field.name: st.none() | st.booleans() for field in fields(ToolAnnotations)}
SCHEMAS = st.dictionaries(TEXTS, TEXTS | st.lists(st.integers(), max_size=2), max_size=2)
SPECS = st.builds(
    ToolSpec,
    name=TEXTS,
    description=TEXTS,
    parameters=SCHEMAS,
    annotations=st.builds(ToolAnnotations, **HINTS),
)
CONVERSATIONS = st.builds(Conversation, messages=few(MESSAGES), tools=few(SPECS))


def wire(*messages: object) -> dict[str, object]:
    return {"taskshield": 1, "messages": list(messages)}


@given(CONVERSATIONS)
def test_parse_undoes_render(conversation: Conversation) -> None:
    assert parse(render(conversation)) == conversation


@given(CONVERSATIONS)
def test_what_is_rendered_is_json(conversation: Conversation) -> None:
    rendered = render(conversation)
    assert json.dumps(json.loads(json.dumps(rendered))) == json.dumps(rendered)


def test_arguments_may_be_an_object() -> None:
    call = {"id": "c", "name": "f", "arguments": {"to": "Zoë"}}
    (message,) = parse(wire({"level": "assistant", "tool_calls": [call]})).messages
    assert message.tool_calls == (ToolCall(id="c", name="f", arguments='{"to": "Zoë"}'),)


def test_an_empty_text_is_no_part() -> None:
    assert parse(wire({"level": "user", "text": ""})).messages == (text_message(Level.USER, ""),)


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (3, "conversation: Input should be"),
        ({"taskshield": 2, "messages": []}, "taskshield: Input should be 1"),
        ({"taskshield": 1}, "messages: Field required"),
        (wire({"level": "root"}), "messages[0].level: Input should be 'system'"),
        (wire({"level": "user", "role": "x"}), "messages[0].role: Extra inputs"),
        (wire({"level": "user", "text": 3}), "messages[0].text: Input should be a valid string"),
        (
            wire({"level": "user", "text": "", "parts": []}),
            "messages[0]: a message has either text or parts",
        ),
        (wire({"level": "user", "parts": ["x"]}), "messages[0].parts[0]: Input should be"),
        (wire({"level": "user", "parts": [{"kind": 3}]}), "parts[0].kind: Input should be a valid"),
        (wire({"level": "user", "parts": [{}]}), "messages[0].parts[0].text: Field required"),
        (
            wire({"level": "user", "parts": [{"text": "a", "kind": "b"}]}),
            "messages[0].parts[0].kind: Extra inputs",
        ),
        (wire({"level": "user", "answers": "c"}), "messages[0]: only a tool message can answer"),
        (wire({"level": "user", "is_error": True}), "messages[0]: only a tool message"),
        (wire({"level": "tool", "is_error": 1}), "messages[0].is_error: Input should be a valid"),
        (
            wire({"level": "tool", "tool_calls": [{"id": "", "name": "", "arguments": ""}]}),
            "messages[0]: only an assistant message can call tools",
        ),
        (
            wire({"level": "assistant", "tool_calls": [{"id": "", "name": "", "arguments": [3]}]}),
            "messages[0].tool_calls[0].arguments: Input should be",
        ),
        (
            {"taskshield": 1, "messages": [], "tools": [{"name": "f", "annotations": {"x": 1}}]},
            "tools[0].annotations.x: Extra inputs",
        ),
    ],
)
def test_errors_name_the_path(payload: object, message: str) -> None:
    with pytest.raises(WireFormatError) as caught:
        parse(payload)
    assert str(caught.value).startswith(message) or f".{message}" in str(caught.value)
