import copy
import json
from typing import Any

import openai
import pytest

from taskshield.adapters.proxy.exchange import Body
from taskshield.adapters.proxy.openai_chat import body as chat_format
from taskshield.adapters.proxy.openai_chat.outlet import ChatOutlet
from taskshield.adapters.proxy.openai_chat.stream import ChatAssembly
from taskshield.adapters.proxy.stream_gate import Gate
from taskshield.core.errors import ConversationError, WireFormatError
from taskshield.core.messages import ToolCall
from tests.adapters.proxy.sdks import fed, openai_client, payloads, seen_in_chat
from tests.adapters.proxy.streams import Call, Said, chat_stream, sse

HEAD = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}


def chunk(*choices: Body, **members: Any) -> bytes:
    return sse({**HEAD, "choices": list(choices), **members})


def choice(delta: Body, reason: str | None = None, index: int = 0) -> Body:
    return {"index": index, "delta": delta, "finish_reason": reason}


def piece(index: int | None, arguments: str, **members: Any) -> Body:
    numbered = {} if index is None else {"index": index}
    function = {"arguments": arguments, **members.pop("function", {})}
    return {**numbered, **members, "function": function}


DONE = b"data: [DONE]\n\n"
USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def answer(*messages: Body, reason: str = "tool_calls") -> Body:
    choices = [
        {"index": number, "message": message, "finish_reason": reason, "logprobs": None}
        for number, message in enumerate(messages)
    ]
    return {"id": "chatcmpl-1", "object": "chat.completion", "choices": choices, "extra": [1]}


def called(*names: str, **members: Any) -> Body:
    calls = [
        {"id": f"id-{name}", "type": "function", "function": {"name": name, "arguments": "{}"}}
        for name in names
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls, **members}


REQUEST: Body = {
    "model": "m",
    "tools": [{"type": "function", "function": {"name": "read"}}],
    "temperature": 0.5,
    "messages": [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Read both."},
        called("read", "look"),
        {"role": "tool", "tool_call_id": "id-read", "content": "one"},
        {
            "role": "tool",
            "tool_call_id": "id-look",
            "content": [{"type": "text", "text": "two"}, {"type": "image_url", "image_url": {}}],
        },
    ],
}


def test_a_request_is_read_with_the_places_of_its_outputs() -> None:
    request = chat_format.read_request(REQUEST)
    assert [message.text for message in request.conversation.messages][-2:] == ["one", "two"]
    assert [tool.name for tool in request.conversation.tools] == ["read"]
    assert request.places == (None, None, None, ("messages", 3), ("messages", 4))


def test_outputs_are_rewritten_and_all_else_is_the_same_object() -> None:
    before = copy.deepcopy(REQUEST)
    places = chat_format.read_request(REQUEST).places
    assert places[3] is not None and places[4] is not None
    body = chat_format.with_outputs(REQUEST, {places[3]: "[withheld]", places[4]: "two\n\nBeware."})
    assert before == REQUEST
    assert body["messages"][3] == {**before["messages"][3], "content": "[withheld]"}
    assert body["messages"][4]["content"] == [
        *before["messages"][4]["content"],
        {"type": "text", "text": "Beware."},
    ]
    assert body["tools"] is REQUEST["tools"]
    assert all(body["messages"][n] is REQUEST["messages"][n] for n in range(3))


def test_a_redacted_output_loses_unreadable_parts() -> None:
    body = chat_format.with_outputs(REQUEST, {("messages", 4): "[removed]"})
    assert body["messages"][4]["content"] == [{"type": "text", "text": "[removed]"}]
    assert chat_format.with_outputs(REQUEST, {("messages", 4): "two"}) == REQUEST
    assert chat_format.with_outputs(REQUEST, {}) == REQUEST


def test_every_choice_is_a_message_of_its_own() -> None:
    silent = {"role": "assistant", "content": None, "refusal": "I won't."}
    nameless = {"role": "user", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}
    reply = chat_format.read_response(answer(called("f"), silent, nameless, nameless))
    assert reply.id == "chatcmpl-1"
    assert [message.text for message in reply.messages] == ["", "I won't.", "", ""]
    assert [[call.id for call in message.tool_calls] for message in reply.messages] == [
        ["id-f"],
        [],
        ["call_2_0"],
        ["call_3_0"],
    ]


def test_only_choices_with_refused_calls_are_changed() -> None:
    body = answer(called("f"), called("g", "h"))
    cut = chat_format.without_calls(body, {"id-g"}, "No g.")
    assert cut["choices"][0] is body["choices"][0] and cut["extra"] is body["extra"]
    message = cut["choices"][1]["message"]
    assert message["content"] == "No g." and [c["id"] for c in message["tool_calls"]] == ["id-h"]
    assert cut["choices"][1]["finish_reason"] == "tool_calls"


def test_an_answer_that_was_cut_short_still_says_so() -> None:
    cut = chat_format.without_calls(answer(called("f"), reason="length"), {"id-f"}, "No.")
    assert cut["choices"][0]["finish_reason"] == "length"
    assert "tool_calls" not in cut["choices"][0]["message"]


def test_a_legacy_call_is_a_call() -> None:
    message = {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "f", "arguments": "{}"},
    }
    body = answer(message, reason="function_call")
    (said,) = chat_format.read_response(body).messages
    assert said.tool_calls == (ToolCall(id="call_0_0", name="f", arguments="{}"),)
    cut = chat_format.without_calls(body, {"call_0_0"}, "No.")["choices"][0]
    assert cut["message"] == {"role": "assistant", "content": "No."}
    assert cut["finish_reason"] == "stop"
    assert chat_format.without_calls(body, (), "Hm.")["choices"][0]["message"]["function_call"]
    following = chat_format.with_feedback({"messages": []}, body, {"call_0_0"}, "No f.")["messages"]
    assert following == [message, {"role": "function", "name": "f", "content": "No f."}]


def test_feedback_gives_back_ids_that_the_model_left_out() -> None:
    body = answer({"role": "assistant", "tool_calls": [{"function": {"name": "f"}}]})
    said, result = chat_format.with_feedback({"messages": []}, body, {"call_0_0"}, "No.")[
        "messages"
    ]
    assert said["tool_calls"][0]["id"] == result["tool_call_id"] == "call_0_0"


def test_several_choices_have_no_feedback_round() -> None:
    with pytest.raises(ConversationError):
        chat_format.with_feedback(REQUEST, answer(called("f"), called("g")), {"id-f"}, "No.")


def test_legacy_calls_in_a_stream_are_buffered() -> None:
    gate = chat_format.gate()
    stream = [
        chunk(choice({"role": "assistant", "content": None, "function_call": {"name": "send"}})),
        chunk(choice({"function_call": {"arguments": '{"to":'}})),
        chunk(choice({"function_call": {"arguments": "1}"}})),
        chunk(choice({}, "function_call")),
        chunk(usage=USAGE),
        DONE,
    ]
    assert fed(gate, stream) == b""
    assert gate.complete is not None
    assert gate.complete.messages[0].tool_calls == (
        ToolCall(id="call_0_0", name="send", arguments='{"to":1}'),
    )
    data = b"".join(gate.release_without({"call_0_0"}, "No."))
    assert b"send" not in data and seen_in_chat(data).texts == ("No.",)
    assert seen_in_chat(data).finish == "stop"


def test_several_choices_are_buffered_together_and_judged_separately() -> None:
    def opening(name: str, index: int) -> Body:
        call = piece(0, "", id=f"id-{name}", type="function", function={"name": name})
        return choice({"tool_calls": [call]}, index=index)

    stream = [
        chunk(choice({"role": "assistant"}), choice({"role": "assistant"}, index=1)),
        chunk(choice({"content": "Hi."}, index=1)),
        chunk(opening("f", 0)),
        chunk(choice({"content": " There."}, index=1)),
        chunk(opening("g", 1), choice({"tool_calls": [piece(0, "{}")]})),
        chunk(choice({}, "tool_calls"), choice({}, "tool_calls", 1)),
        DONE,
    ]
    gate = chat_format.gate()
    assert fed(gate, stream) == b"".join(stream[:2])
    assert gate.complete is not None
    assert [m.text for m in gate.complete.messages] == ["", "Hi. There."]
    chunks = payloads(b"".join(gate.release_without({"id-g"}, "No g.")))
    texts, names, reasons = ["", ""], [[], []], [None, None]  # type: ignore[var-annotated]
    for each in (one for part in chunks for one in part["choices"]):
        texts[each["index"]] += each["delta"].get("content") or ""
        reasons[each["index"]] = each["finish_reason"] or reasons[each["index"]]
        for call in each["delta"].get("tool_calls") or ():
            names[each["index"]] += [call["function"].get("name")] if call.get("id") else []
    assert texts == ["", " There.\n\nNo g."]
    assert names == [["f"], []] and reasons == ["tool_calls", "stop"]


@pytest.mark.parametrize("numbers", [(0, 0), (None, None)])
def test_calls_that_share_a_number_are_distinguished_by_their_ids(
    numbers: tuple[int | None, int | None],
) -> None:
    first, second = numbers
    opening = {"name": "f"}
    gate = chat_format.gate()
    stream = [
        chunk(choice({"tool_calls": [piece(first, '{"a":1}', id="A", function=opening)]})),
        chunk(choice({"tool_calls": [piece(second, '{"b"', id="B", function=opening)]})),
        chunk(choice({"tool_calls": [piece(second, ":2}", id="B")]})),
        chunk(choice({}, "tool_calls")),
        DONE,
    ]
    fed(gate, stream)
    assert gate.complete is not None
    assert gate.complete.messages[0].tool_calls == (
        ToolCall(id="A", name="f", arguments='{"a":1}'),
        ToolCall(id="B", name="f", arguments='{"b":2}'),
    )
    sent = payloads(b"".join(gate.release_without({"A"}, "No A.")))
    deltas = [one["delta"].get("tool_calls", []) for each in sent for one in each["choices"]]
    assert [(c["index"], c["function"]["arguments"]) for calls in deltas for c in calls] == [
        (0, '{"b"'),
        (0, ":2}"),
    ]


def test_text_in_the_last_chunk_stands_before_the_note() -> None:
    gate = chat_format.gate()
    stream = [
        chunk(choice({"role": "assistant", "content": "One"})),
        chunk(choice({"content": " two."}, "stop"), usage=USAGE),
        DONE,
    ]
    data = fed(gate, stream) + b"".join(gate.release_without((), "A note."))
    assert seen_in_chat(data).texts == ("One two.", "A note.")


def test_text_after_calls_is_buffered_with_them_and_stands_before_the_note() -> None:
    gate = chat_format.gate()
    call = piece(0, "{}", id="A", type="function", function={"name": "f"})
    stream = [
        chunk(choice({"role": "assistant", "content": "Well."})),
        chunk(choice({"tool_calls": [call]})),
        chunk(choice({"content": " Done."})),
        chunk(choice({}, "tool_calls")),
        chunk(usage=USAGE),
        DONE,
    ]
    data = fed(gate, stream)
    assert data == stream[0]
    data += b"".join(gate.release_without({"A"}, "A note."))
    assert seen_in_chat(data).texts == ("Well. Done.", "A note.")


def test_unknown_fields_survive_every_change() -> None:
    gate = chat_format.gate()
    data = fed(gate, chat_stream(Said(text="Hi.", calls=[Call("A", "f", "{}")])))
    data += b"".join(gate.next_round())
    data += fed(gate, chat_stream(Said(text="Ho.", calls=[Call("B", "g", "{}")], id="2")))
    data += b"".join(gate.release_without({"B"}, "No."))
    assert all(each["x_unknown"] == {"kept": True} for each in payloads(data))


def test_an_azure_prologue_and_comments_pass() -> None:
    gate = chat_format.gate()
    prologue = sse({**HEAD, "id": "", "created": 0, "choices": [], "prompt_filter_results": []})
    stream = [prologue, b": PROCESSING\n\n", *chat_stream(Said(calls=[Call("A", "f", "{}")]))]
    assert fed(gate, stream).startswith(prologue + b": PROCESSING\n\n")
    (first, *_) = payloads(b"".join(gate.release_without({"A"}, "No.")))
    assert first["id"] == "chatcmpl-1"


def test_a_comment_does_not_wait_for_the_judge() -> None:
    gate = chat_format.gate()
    stream = chat_stream(Said(calls=[Call("A", "f", "{}")]))
    assert fed(gate, [*stream[:3], b": still here\n\n"]).endswith(b": still here\n\n")


def test_a_stream_may_end_without_saying_so() -> None:
    stream = chat_stream(Said(text="Hi.", calls=[Call("A", "f", "{}")]))[:-1]
    gate = chat_format.gate()
    data = fed(gate, stream)
    assert gate.complete is not None
    assert data + b"".join(gate.release()) == b"".join(stream)


def test_an_error_in_the_stream_passes_and_buffered_calls_do_not() -> None:
    error = sse({"error": {"message": "overloaded", "type": "server_error"}})
    stream = chat_stream(Said(text="Hi.", calls=[Call("A", "f", "{}")]))
    gate = chat_format.gate()
    data = fed(gate, [*stream[:-3], error, *stream[-3:]])
    assert gate.complete is None and gate.fail_incomplete() == []
    assert json.loads(data.split(b"data: ")[-1]) == json.loads(error.removeprefix(b"data: "))
    assert b'"A"' not in data
    with pytest.raises(openai.APIError, match="overloaded"):
        read_all(data)


def test_the_sdk_raises_when_a_stream_is_incomplete() -> None:
    gate = chat_format.gate()
    data = fed(gate, chat_stream(Said(text="Hi.", calls=[Call("A", "f", "{}")]))[:-4])
    with pytest.raises(openai.APIError, match="before its response was complete"):
        read_all(data + b"".join(gate.fail_incomplete()))


def read_all(data: bytes) -> None:
    with openai_client(data) as client:
        messages: Any = [{"role": "user", "content": "go"}]
        list(client.chat.completions.create(model="m", messages=messages, stream=True))


def test_an_answer_must_not_change_after_its_end() -> None:
    stream = chat_stream(Said(text="Hi."))
    late = chunk(choice({"tool_calls": [piece(0, "{}", id="A", function={"name": "f"})]}))
    gate = chat_format.gate()
    with pytest.raises(WireFormatError, match="after its end"):
        fed(gate, [*stream, late])
    assert gate.complete is None and gate.fail_incomplete()


def test_an_endless_answer_is_refused() -> None:
    gate = Gate(
        assembly=ChatAssembly, outlet=ChatOutlet(), read=chat_format.read_response, limit=10_000
    )
    with pytest.raises(WireFormatError, match="longer than"):
        fed(gate, [chunk(choice({"content": "x" * 100}))] * 100)
