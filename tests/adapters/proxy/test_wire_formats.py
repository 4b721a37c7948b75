"""What is the same for all wire formats, without streaming."""

import copy
import json
from collections.abc import Mapping
from typing import Any

import anthropic.types
import openai.types.chat
import openai.types.responses
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ConfigDict, TypeAdapter

from taskshield.adapters.proxy.exchange import Body, Reply
from taskshield.adapters.proxy.feedback_rounds import NOT_RUN
from taskshield.adapters.proxy.usage import added, with_usage_of
from taskshield.adapters.proxy.wire_formats import BY_PATH
from taskshield.core.errors import WireFormatError
from taskshield.core.levels import Level
from tests.adapters.proxy.sdks import BENCHES, Bench, fed, payloads
from tests.adapters.proxy.streams import Call, Said

ALL = pytest.mark.parametrize("bench", BENCHES, ids=lambda bench: bench.name)
TYPES: Mapping[str, Any] = {
    "chat": openai.types.chat.ChatCompletion,
    "anthropic": anthropic.types.Message,
    "responses": openai.types.responses.Response,
}
PARAMS: Mapping[str, Any] = {
    "chat": list[openai.types.chat.ChatCompletionMessageParam],
    "anthropic": list[anthropic.types.MessageParam],
    "responses": list[openai.types.responses.ResponseInputItemParam],
}
A = Call("c-alpha", "read_file", '{"path": "bill.txt"}')
B = Call("c-beta", "send_money", '{"to": "Mallory"}')


def answer(bench: Bench, said: Said) -> Body:
    """An answer as it comes without streaming."""
    gate = bench.wire_format.gate()
    fed(gate, bench.stream(said))
    assert gate.response is not None
    body: Body = json.loads(json.dumps(gate.response))
    TypeAdapter[Any](TYPES[bench.name]).validate_python(body)
    return body


def messages(body: Body) -> list[Any]:
    found: list[Any] = body["messages"] if "messages" in body else body["input"]
    return found


def check_sendable(bench: Bench, body: Body) -> None:
    """The provider's own types know all that was added to the request."""
    config = ConfigDict(extra="forbid")
    added = [message for message in messages(body) if message.get("type") != "reasoning"]
    TypeAdapter[Any](PARAMS[bench.name], config=config).validate_python(added)


def seen(reply: Reply) -> tuple[str, list[str]]:
    (message,) = reply.messages
    return message.text, [call.id for call in message.tool_calls]


@ALL
def test_an_answer_is_read_alike_with_and_without_streaming(bench: Bench) -> None:
    said = Said(text="Hi.", calls=[A, B])
    gate = bench.wire_format.gate()
    fed(gate, bench.stream(said))
    assert gate.complete == bench.wire_format.read_response(answer(bench, said))


@ALL
@pytest.mark.parametrize("text", ["Hi.", ""])
@pytest.mark.parametrize("refused", [[A], [B], [A, B], []])
def test_without_calls_equals_the_revised_stream(
    bench: Bench, text: str, refused: list[Call]
) -> None:
    said = Said(text=text, calls=[A, B])
    ids = {call.id for call in refused}
    body = answer(bench, said)
    before = copy.deepcopy(body)
    cut = bench.wire_format.without_calls(body, ids, "A note.")
    assert body == before
    TypeAdapter[Any](TYPES[bench.name]).validate_python(cut)
    gate = bench.wire_format.gate()
    streamed = bench.seen(
        fed(gate, bench.stream(said)) + b"".join(gate.release_without(ids, "A note."))
    )
    assert seen(bench.wire_format.read_response(cut)) == (
        "\n\n\n".join(streamed.texts) if bench.name != "chat" else streamed.text,
        [call.id for call in streamed.calls],
    )
    assert f'"{streamed.finish}"' in json.dumps(cut)
    assert cut["usage"] == body["usage"]


@ALL
def test_feedback_answers_every_call(bench: Bench) -> None:
    body = answer(bench, Said(text="Hi.", calls=[A, B]))
    request = {**bench.request, "stream": True}
    before = copy.deepcopy(request)
    following = bench.wire_format.with_feedback(request, body, {B.id}, "Not that.")
    assert request == before
    check_sendable(bench, following)
    assert {key: following[key] for key in ("model", "x", "stream")} == {
        "model": "m",
        "x": 1,
        "stream": True,
    }
    conversation = bench.wire_format.read_request(following).conversation
    assert [message.level for message in conversation.messages] == [
        Level.USER,
        Level.ASSISTANT,
        Level.TOOL,
        Level.TOOL,
    ]
    assert conversation.messages[1] == bench.wire_format.read_response(body).messages[0]
    answers = {message.answers: message.text for message in conversation.messages[2:]}
    assert answers == {A.id: NOT_RUN, B.id: "Not that."}


@ALL
@pytest.mark.parametrize("calls", [[], [A]])
def test_feedback_on_a_text_follows_it(bench: Bench, calls: list[Call]) -> None:
    body = answer(bench, Said(text="I shall rob the bank.", calls=calls))
    following = bench.wire_format.with_feedback(bench.request, body, (), "Do not.")
    check_sendable(bench, following)
    conversation = bench.wire_format.read_request(following).conversation
    assert conversation.messages[-1].text == "Do not."
    beside_results = bench.name == "anthropic" and calls
    assert conversation.messages[-1].level is (Level.TOOL if beside_results else Level.USER)
    assert [m.text for m in conversation.messages if m.answers] == [NOT_RUN] * len(calls)


@ALL
def test_rounds_can_follow_each_other(bench: Bench) -> None:
    request = bench.request
    for _ in range(3):
        body = answer(bench, Said(calls=[B]))
        request = bench.wire_format.with_feedback(request, body, {B.id}, "No.")
    read = bench.wire_format.read_request(request).conversation
    assert len([message for message in read.messages if message.text == "No."]) == 3


@ALL
@pytest.mark.parametrize("body", [None, [], "x", 3, {"messages": 3, "input": 3}, {"messages": [3]}])
def test_an_invalid_request_is_refused(bench: Bench, body: object) -> None:
    if bench.name == "responses" and body == {"messages": [3]}:
        return  # a request may do without input there
    with pytest.raises(WireFormatError):
        bench.wire_format.read_request(body)


@ALL
@pytest.mark.parametrize("body", [None, [], "x", {"choices": 3, "content": 3, "output": 3}])
def test_an_invalid_answer_is_refused(bench: Bench, body: object) -> None:
    with pytest.raises(WireFormatError):
        bench.wire_format.read_response(body)


@ALL
def test_a_request_says_whether_it_wants_a_stream(bench: Bench) -> None:
    assert not bench.wire_format.read_request(bench.request).streams
    assert bench.wire_format.read_request({**bench.request, "stream": True}).streams


def test_every_wire_format_has_a_path() -> None:
    assert {bench.wire_format for bench in BENCHES} == set(BY_PATH.values())


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        (None, {"a": 1}, {"a": 1}),
        ({"a": 1}, None, {"a": 1}),
        ({"a": 1, "d": {"x": 1}}, {"a": 2, "b": 3, "d": {"x": 4}}, {"a": 3, "b": 3, "d": {"x": 5}}),
        ({"a": None, "tier": "slow"}, {"a": 2, "tier": "fast"}, {"a": 2, "tier": "fast"}),
        ({"a": True}, {"a": True}, {"a": True}),
    ],
)
def test_usage_is_summed(first: object, second: object, both: object) -> None:
    assert added(first, second) == both


def test_usage_is_that_of_all_rounds() -> None:
    rounds: list[Body] = [{"id": "1", "usage": {"t": 1}}, {"id": "2"}]
    assert with_usage_of({"id": "3", "usage": {"t": 5}}, rounds) == {"id": "3", "usage": {"t": 6}}
    assert with_usage_of({"id": "3"}, [{"id": "2"}]) == {"id": "3"}


KEYS = st.sampled_from(
    "type index delta choices content tool_calls id function name arguments finish_reason error "
    "message content_block partial_json text usage item output_index response output call_id "
    "sequence_number".split()
)
VALUES = st.sampled_from(
    "content_block_start content_block_delta message_start message_delta message_stop tool_use "
    "response.output_item.added response.output_item.done response.completed response.created "
    "function_call message text_delta input_json_delta ping error x".split()
)
SCALARS = VALUES | st.none() | st.booleans() | st.integers(-1, 3)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)
EVENTS = st.tuples(VALUES, st.dictionaries(KEYS, ANYTHING, max_size=5)).map(
    lambda event: {**event[1], "type": event[0]}
)


@ALL
@given(st.lists(EVENTS, max_size=8))
def test_any_stream_of_json_passes_or_is_refused(bench: Bench, events: list[Body]) -> None:
    played([f"data: {json.dumps(event)}\n\n".encode() for event in events], bench)


@ALL
@given(st.data())
def test_a_stream_with_anything_in_it_passes_or_is_refused(
    bench: Bench, data: st.DataObject
) -> None:
    stream = bench.stream(Said(text="Hi.", calls=[A, B]))
    for _ in range(data.draw(st.integers(1, 3))):
        number = data.draw(st.integers(0, len(stream) - 1))
        changed = [replaced(each, data) for each in payloads(stream[number])]
        stream[number] = b"".join(f"data: {json.dumps(each)}\n\n".encode() for each in changed)
    played(stream, bench)


def replaced(value: Any, data: st.DataObject) -> Any:
    """The value with something in it replaced by anything."""
    if isinstance(value, dict) and value and data.draw(st.integers(0, 4)):
        key = data.draw(st.sampled_from(sorted(value)))
        return {**value, key: replaced(value[key], data)}
    if isinstance(value, list) and value:
        return [replaced(value[0], data), *value[1:]]
    return data.draw(ANYTHING)


def played(stream: list[bytes], bench: Bench) -> None:
    """Two rounds of the same stream."""
    gate = bench.wire_format.gate()
    try:
        fed(gate, stream)
        if gate.complete is not None:
            bench.wire_format.with_feedback(bench.request, gate.response or {}, {B.id}, "No.")
            gate.next_round()
            fed(gate, stream)
        if gate.complete is not None:
            gate.release_without({B.id}, "A note.")
    except WireFormatError:
        pass
    gate.fail_incomplete()


@ALL
@pytest.mark.parametrize("data", ["[1]", "3", "{", '"x"', "[" * 10**5, "9" * 5000])
def test_events_that_are_no_objects_are_refused(bench: Bench, data: str) -> None:
    with pytest.raises(WireFormatError):
        fed(bench.wire_format.gate(), [f"data: {data}\n\n".encode()])
