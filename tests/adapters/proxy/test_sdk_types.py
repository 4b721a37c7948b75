"""The SDKs' own types: each that a model can answer with is known here, and what it asks for."""

import typing
from collections.abc import Iterator
from typing import Any

import anthropic.types as anthropic_types
import anthropic.types.beta as anthropic_beta
import openai.types.beta as openai_beta
import openai.types.chat as chat_types
import openai.types.responses as responses_types
import pytest

from taskshield.adapters.conversations import response_items as items
from taskshield.adapters.proxy.anthropic import blocks
from taskshield.adapters.proxy.anthropic import body as anthropic_format
from taskshield.adapters.proxy.anthropic import stream as anthropic_stream
from taskshield.adapters.proxy.openai_chat import members
from taskshield.adapters.proxy.openai_responses import body as responses_format
from taskshield.adapters.proxy.openai_responses import stream as responses_stream
from taskshield.adapters.proxy.openai_responses.items import may_be_acted_on
from taskshield.adapters.proxy.strict_json import names_part_of_call


def literals(annotation: Any) -> set[str]:
    if typing.get_origin(annotation) is typing.Literal:
        return set(typing.get_args(annotation))
    return {each for inner in typing.get_args(annotation) for each in literals(inner)}


def types_of(annotation: Any) -> set[str]:
    """The values that `type` may have in any member of a union; the name of one without."""
    if hasattr(annotation, "__value__"):
        annotation = annotation.__value__
    if isinstance(annotation, type) and hasattr(annotation, "model_fields"):
        field = annotation.model_fields.get("type")
        return (set() if field is None else literals(field.annotation)) or {annotation.__name__}
    if isinstance(annotation, type) and typing.is_typeddict(annotation):
        hint = annotation.__annotations__.get("type")
        hint = getattr(hint, "__forward_arg__", hint)
        return {str(hint)} if hint is None else set()
    return {each for inner in typing.get_args(annotation) for each in types_of(inner)}


@pytest.mark.parametrize(
    "union",
    [
        responses_types.ResponseOutputItem,
        responses_types.ResponseInputItem,
        responses_types.ResponseItem,
        openai_beta.BetaResponseOutputItem,
        openai_beta.BetaResponseInputItem,
        openai_beta.BetaResponseItem,
    ],
    ids=str,
)
def test_every_item_type_is_known(union: Any) -> None:
    kinds = types_of(union)
    assert len(kinds) > 20
    assert kinds - {"BetaEasyInputMessage", "EasyInputMessage"} <= items.KNOWN


WRITTEN = {
    "name": "send_money",
    "arguments": '{"to": "evil"}',
    "input": "to evil",
    "action": {"commands": ["evil"], "type": "type"},
    "operation": {"path": "evil"},
}


@pytest.mark.parametrize("kind", sorted(items.CLIENT_RUN))
def test_every_item_that_acts_is_judged(kind: str) -> None:
    item = {"type": kind, "id": "x", "call_id": "x", **WRITTEN}
    (message,) = responses_format.read_response({"output": [item]}).messages
    (call,) = message.tool_calls
    assert "evil" in call.arguments and call.name
    assert may_be_acted_on(item)


@pytest.mark.parametrize("kind", sorted(items.KNOWN - items.CLIENT_RUN))
def test_no_other_item_asks_the_client_for_anything(kind: str) -> None:
    assert not may_be_acted_on({"type": kind, "content": []})


def test_an_item_of_a_type_that_is_not_listed_acts() -> None:
    for kind in ("robot_action", "browser_call", "new", ""):
        item = {"type": kind, "id": "x", "call_id": "x", "where": "evil"}
        (message,) = responses_format.read_response({"output": [item]}).messages
        assert [(call.name, call.arguments) for call in message.tool_calls] == [
            (kind, '{"where": "evil"}')
        ]


@pytest.mark.parametrize("union", [anthropic_types.ContentBlock, anthropic_beta.BetaContentBlock])
def test_every_block_type_is_known(union: Any) -> None:
    kinds = types_of(union)
    assert len(kinds) > 10 and kinds <= blocks.KNOWN


@pytest.mark.parametrize("kind", sorted(blocks.KNOWN | {"shell_use", "new"}))
def test_a_block_is_judged_unless_it_asks_for_nothing(kind: str) -> None:
    block = {"type": kind, "id": "x", "name": "f", "input": {"to": "evil"}, "text": "Hm."}
    (message,) = anthropic_format.read_response({"content": [block]}).messages
    assert bool(message.tool_calls) is blocks.is_call(block)
    assert blocks.is_call(block) is (kind not in blocks.KNOWN - blocks.CLIENT_RUN)


def test_every_event_of_an_anthropic_stream_is_known() -> None:
    for module, prefix in ((anthropic_types, ""), (anthropic_beta, "Beta")):
        events = types_of(getattr(module, f"{prefix}RawMessageStreamEvent"))
        deltas = types_of(getattr(module, f"{prefix}RawContentBlockDelta"))
        assert len(events) > 5 and events <= set(anthropic_stream._PLACES)
        assert len(deltas) > 4 and deltas <= set(anthropic_stream._GROWN)


def test_every_type_of_call_in_a_chat_is_known() -> None:
    union = chat_types.ChatCompletionMessageToolCallUnion
    assert types_of(union) == set(members._WRITTEN)
    known = {"content", "refusal", "role", "annotations", "audio", *members.CALLED}
    assert set(chat_types.ChatCompletionMessage.model_fields) <= known
    delta = chat_types.chat_completion_chunk.ChoiceDelta
    assert set(delta.model_fields) <= known


def events_of(union: Any) -> Iterator[type]:
    if hasattr(union, "__value__"):
        union = union.__value__
    if hasattr(union, "model_fields"):
        yield union
    for inner in typing.get_args(union):
        yield from events_of(inner)


@pytest.mark.parametrize(
    "union", [responses_types.ResponseStreamEvent, openai_beta.BetaResponseStreamEvent], ids=str
)
def test_every_event_of_a_responses_stream_that_has_items_is_known(union: Any) -> None:
    models: list[Any] = list(events_of(union))
    assert len(models) > 40
    for model in models:
        (kind,) = literals(model.model_fields["type"].annotation)
        holds = {"item", "response", "items", "output"} & set(model.model_fields)
        if holds:
            assert kind in responses_stream._KNOWN or kind.startswith(responses_stream._OUTPUTS)
        about_call = {"arguments", "input", "command"} & set(model.model_fields)
        if about_call:
            assert names_part_of_call(kind)
