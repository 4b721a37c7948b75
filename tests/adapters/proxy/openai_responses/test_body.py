import copy
import json
from typing import Any

import pytest
from openai.types.responses import ResponseFailedEvent, ResponseInputItemParam
from pydantic import ConfigDict, TypeAdapter

from taskshield.adapters.proxy.exchange import Body
from taskshield.adapters.proxy.feedback_rounds import NOT_RUN
from taskshield.adapters.proxy.openai_responses import body as responses_format
from taskshield.adapters.proxy.openai_responses.items import result
from taskshield.core.errors import ConversationError, WireFormatError
from taskshield.core.messages import Opaque, Text, ToolCall
from tests.adapters.proxy.sdks import fed, openai_client, payloads, seen_in_responses
from tests.adapters.proxy.streams import Call, Said, responses_stream, sse

REQUEST: Body = {
    "model": "m",
    "instructions": "Be kind.",
    "tools": [{"type": "function", "name": "read", "parameters": {}}],
    "previous_response_id": "resp_0",
    "input": [
        {"role": "user", "content": "Read all."},
        {"type": "function_call", "call_id": "a", "name": "read", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "one"},
        {
            "type": "custom_tool_call_output",
            "call_id": "b",
            "output": [
                {"type": "input_text", "text": "two"},
                {"type": "input_image", "image_url": "data:image/png;base64,aaaa"},
            ],
        },
        {
            "type": "shell_call_output",
            "call_id": "c",
            "output": [{"stdout": "three", "stderr": "", "outcome": {"type": "timeout"}}],
        },
        {
            "type": "computer_call_output",
            "call_id": "d",
            "output": {"type": "computer_screenshot", "image_url": "data:image/png;base64,aaaa"},
        },
        {
            "type": "mcp_call",
            "id": "e",
            "server_label": "mail",
            "name": "list",
            "arguments": "{}",
            "output": "five",
        },
    ],
}


def test_a_request_is_read_with_the_places_of_its_outputs() -> None:
    request = responses_format.read_request(REQUEST)
    assert request.continues == "resp_0"
    places = dict(
        (message.text, place)
        for message, place in zip(request.conversation.messages, request.places, strict=True)
        if message.answers
    )
    assert places == {
        "one": ("input", 2),
        "two": ("input", 3),
        "three": ("input", 4),
        "": None,  # a picture
        "five": ("input", 6),
    }


def test_outputs_are_rewritten_and_all_else_is_the_same_object() -> None:
    before = copy.deepcopy(REQUEST)
    body = responses_format.with_outputs(
        REQUEST,
        {
            ("input", 2): "[withheld]",
            ("input", 3): "two\n\nBeware.",
            ("input", 4): "three\n\nBeware.",
            ("input", 6): "five\n\nBeware.",
        },
    )
    assert before == REQUEST
    given = body["input"]
    assert given[2] == {**before["input"][2], "output": "[withheld]"}
    assert given[3]["output"] == [
        *before["input"][3]["output"],
        {"type": "input_text", "text": "Beware."},
    ]
    assert given[4]["output"][0] == before["input"][4]["output"][0]
    assert given[4]["output"][1]["stdout"] == "Beware."
    assert given[6]["output"] == "five\n\nBeware."
    assert all(given[n] is REQUEST["input"][n] for n in (0, 1, 5))
    check_input(given)


def check_input(items: list[Body]) -> None:
    config = ConfigDict(extra="forbid")
    TypeAdapter[Any](list[ResponseInputItemParam], config=config).validate_python(items)


@pytest.mark.parametrize(
    ("members", "continued"),
    [
        ({}, None),
        ({"conversation": "conv_1"}, "conv_1"),
        ({"conversation": {"id": "conv_1"}}, "conv_1"),
        ({"previous_response_id": "resp_9"}, "resp_9"),
    ],
)
def test_a_request_names_what_it_continues(members: Body, continued: str | None) -> None:
    assert responses_format.read_request({"input": "go", **members}).continues == continued


def message(text: str) -> Body:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    }


def function_call(id: str, **members: Any) -> Body:
    call = {"type": "function_call", "id": f"fc_{id}", "call_id": id, "name": "f"}
    return {**call, "arguments": "{}", "status": "completed", **members}


REASONING = {"type": "reasoning", "id": "rs_1", "summary": []}
SHELL = {
    "type": "shell_call",
    "id": "sh_1",
    "call_id": "s",
    "status": "completed",
    "action": {"commands": ["ls"]},
}
APPROVAL = {
    "type": "mcp_approval_request",
    "id": "mcpr_1",
    "server_label": "bank",
    "name": "pay",
    "arguments": '{"to": "Mallory"}',
}


def answer(*items: Body) -> Body:
    return {"id": "resp_1", "object": "response", "status": "completed", "output": list(items)}


def test_what_ran_at_the_provider_cannot_be_refused() -> None:
    searched = {"type": "web_search_call", "id": "ws", "status": "completed"}
    mcp = {"type": "mcp_call", "id": "mcp", "name": "f", "arguments": "{}", "output": "x"}
    shell_output = {"type": "shell_call_output", "id": "o", "call_id": "s", "output": []}
    refusal = {"type": "refusal", "refusal": "I won't."}
    said = {**message("So."), "role": "user", "content": [*message("So.")["content"], refusal]}
    shell = {**SHELL, "environment": {"type": "container_reference", "container_id": "c"}}
    body = answer(REASONING, searched, mcp, shell, shell_output, said, APPROVAL)
    (read,) = responses_format.read_response(body).messages
    assert read.parts == (
        Text(text="So."),
        Text(text="I won't."),
        *(Opaque(kind=kind) for kind in ("web_search_call", "mcp_call", "shell_call")),
        Opaque(kind="shell_call_output"),
    )
    assert read.tool_calls == (
        ToolCall(id="mcpr_1", name="bank.pay", arguments='{"to": "Mallory"}'),
    )
    cut = responses_format.without_calls(body, {"mcpr_1", "s", "mcp"}, "No.")
    assert cut["output"][:-1] == body["output"][:-1]
    assert cut["output"][-1]["content"][0]["text"] == "\n\nNo."


def test_calls_of_every_kind_that_a_client_runs_are_calls() -> None:
    local = {"type": "local_shell_call", "id": "l", "call_id": "lc", "action": {"command": ["rm"]}}
    custom = {"type": "custom_tool_call", "call_id": "cc", "name": "sql", "input": "drop table"}
    search = {"type": "tool_search_call", "call_id": "tc", "execution": "client", "arguments": {}}
    hosted = {**search, "call_id": "hc", "execution": "server"}
    new = {"type": "teleport_call", "id": "n", "call_id": "nc", "status": "x", "to": "Mars"}
    spaced = function_call("fc", namespace="crm")
    body = answer(local, custom, SHELL, search, hosted, new, spaced)
    (read,) = responses_format.read_response(body).messages
    assert [(call.id, call.name, call.arguments) for call in read.tool_calls] == [
        ("lc", "local_shell", '{"action": {"command": ["rm"]}}'),
        ("cc", "sql", "drop table"),
        ("s", "shell", '{"action": {"commands": ["ls"]}}'),
        ("tc", "tool_search", "{}"),
        ("nc", "teleport_call", '{"to": "Mars"}'),
        ("fc", "crm.f", "{}"),
    ]


def test_feedback_is_given_in_the_form_of_each_call() -> None:
    patch = {"type": "apply_patch_call", "id": "p", "call_id": "p", "operation": {}, "status": "x"}
    local = {"type": "local_shell_call", "id": "l", "call_id": "l", "action": {}}
    custom = {"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": "x"}
    caller = {"type": "program", "caller_id": "prog"}
    programmed = function_call("f", caller=caller)
    body = answer(custom, programmed, SHELL, patch, local, APPROVAL)
    following = responses_format.with_feedback({"input": "go"}, body, {"c", "mcpr_1"}, "No.")[
        "input"
    ]
    assert following[:7] == [{"role": "user", "content": "go"}, *body["output"]]
    results = following[7:]
    check_input(results)
    assert results[0] == {"type": "custom_tool_call_output", "call_id": "c", "output": "No."}
    assert results[1]["caller"] == caller and results[1]["output"] == NOT_RUN
    assert results[2]["output"][0]["stdout"] == NOT_RUN
    assert results[3]["status"] == "failed"
    assert results[5] == {
        "type": "mcp_approval_response",
        "approval_request_id": "mcpr_1",
        "approve": False,
        "reason": "No.",
    }


def test_the_result_of_calls_for_a_picture_cannot_be_text() -> None:
    body = answer({"type": "computer_call", "call_id": "x", "id": "x", "action": {}})
    with pytest.raises(ConversationError):
        responses_format.with_feedback({"input": "go"}, body, {"x"}, "No.")
    assert "computer_call" not in json.dumps(responses_format.without_calls(body, {"x"}, "No."))


def test_stored_answers_go_back_as_they_are_and_others_without_ids() -> None:
    sealed = {**REASONING, "encrypted_content": "abc"}
    body = answer(REASONING, sealed, function_call("a"))
    stored = responses_format.with_feedback({"input": []}, body, {"a"}, "No.")
    assert stored["input"][:3] == body["output"]
    unstored = responses_format.with_feedback({"input": [], "store": False}, body, {"a"}, "No.")
    assert [item.get("id") for item in unstored["input"]] == [None] * 3
    assert [item["type"] for item in unstored["input"]] == [
        "reasoning",
        "function_call",
        "function_call_output",
    ]


def test_feedback_keeps_what_the_request_continues() -> None:
    body = answer(function_call("a"))
    following = responses_format.with_feedback(REQUEST, body, {"a"}, "No.")
    assert following["previous_response_id"] == "resp_0"
    assert following["input"][:-2] == REQUEST["input"]
    talk = {"conversation": "conv_1", "input": "go"}
    # The conversation has the question and the answer already.
    assert responses_format.with_feedback(talk, body, {"a"}, "No.")["input"] == [
        {"type": "function_call_output", "call_id": "a", "output": "No."}
    ]


def test_a_later_request_answers_calls_that_only_the_provider_knows() -> None:
    body = answer(function_call("a"), function_call("b"))
    results = responses_format.results_of(body, {"b"}, "Not carried out.")
    client = {"previous_response_id": "resp_1", "input": "And now?"}
    assert responses_format.resumed(client, previous="resp_3", results=results) == {
        "previous_response_id": "resp_3",
        "input": [
            {"type": "function_call_output", "call_id": "b", "output": "Not carried out."},
            {"role": "user", "content": "And now?"},
        ],
    }
    talk = {"conversation": "conv_1", "input": []}
    assert responses_format.resumed(talk, previous="resp_3", results=results) == {
        **talk,
        "input": results,
    }


def test_an_unknown_call_is_not_answered_at_random() -> None:
    with pytest.raises(ConversationError):
        result({"type": "teleport_call"}, "x", "No.")


def event(kind: str, number: int, **members: Any) -> bytes:
    return sse({"type": kind, "sequence_number": number, **members}, kind)


STREAM = responses_stream(Said(text="Hi.", calls=[Call("a", "f", "{}"), Call("b", "g", "{}")]))


def renumbered(events: list[bytes]) -> list[bytes]:
    bodies = [payload for each in events for payload in payloads(each)]
    return [
        sse({**body, "sequence_number": number}, body["type"]) for number, body in enumerate(bodies)
    ]


def custom_call(index: int) -> list[bytes]:
    item = {"id": "ctc", "type": "custom_tool_call", "call_id": "c", "name": "sql"}
    kind = "response.custom_tool_call_input"
    at = {"output_index": index, "item_id": "ctc"}
    return [
        event("response.output_item.added", 0, output_index=index, item={**item, "input": ""}),
        event(f"{kind}.delta", 0, **at, delta="drop"),
        event(f"{kind}.done", 0, **at, input="drop"),
        event("response.output_item.done", 0, output_index=index, item={**item, "input": "drop"}),
    ]


def test_custom_calls_are_buffered_too() -> None:
    text = responses_stream(Said(text="Hi."))
    stream = renumbered([*text[:-1], *custom_call(2), text[-1]])
    gate = responses_format.gate()
    data = fed(gate, stream)
    assert b"sql" not in data and gate.complete is not None
    (read,) = gate.complete.messages
    assert read.tool_calls == (ToolCall(id="c", name="sql", arguments="drop"),)
    data += b"".join(gate.release_without({"c"}, "No."))
    assert seen_in_responses(data).texts == ("Hi.", "No.")
    assert b"sql" not in data


def test_an_end_that_lists_no_items_is_filled_in() -> None:
    (ending,) = payloads(STREAM[-1])
    for response in ({**ending["response"], "output": []}, {**ending["response"], "output": None}):
        gate = responses_format.gate()
        data = fed(gate, [*STREAM[:-1], sse({**ending, "response": response}, ending["type"])])
        assert gate.complete is not None
        assert [call.id for call in gate.complete.messages[0].tool_calls] == ["a", "b"]
        data += b"".join(gate.release_without({"a"}, "No."))
        assert [call.id for call in seen_in_responses(data).calls] == ["b"]


def test_calls_that_only_the_end_lists_are_judged() -> None:
    (ending,) = payloads(STREAM[-1])
    gate = responses_format.gate()
    fed(gate, [*STREAM[:2], STREAM[-1]])
    assert gate.complete is not None
    assert [call.id for call in gate.complete.messages[0].tool_calls] == ["a", "b"]
    (cut,) = payloads(b"".join(gate.release_without({"a", "b"}, "No.")))[-1:]
    assert "function_call" not in json.dumps(cut)


def test_an_incomplete_answer_is_judged_like_any_other() -> None:
    (ending,) = payloads(STREAM[-1])
    ending = {**ending, "type": "response.incomplete"}
    ending["response"] = {**ending["response"], "status": "incomplete"}
    gate = responses_format.gate()
    fed(gate, [*STREAM[:-1], sse(ending, ending["type"])])
    assert gate.complete is not None
    last = payloads(b"".join(gate.release_without({"a"}, "No.")))[-1]
    assert last["type"] == "response.incomplete" and last["response"]["status"] == "incomplete"


def test_provider_tools_and_new_events_pass_at_once_and_in_order() -> None:
    search = {"id": "ws", "type": "web_search_call", "status": "in_progress"}
    text = responses_stream(Said(text="Hi."))
    stream = renumbered(
        [
            *text[:-1],
            event("response.output_item.added", 0, output_index=2, item=search),
            event("response.web_search_call.searching", 0, output_index=2, item_id="ws"),
            event("response.weather.changed", 0, sun=True),
            event("response.output_item.done", 0, output_index=2, item=search),
            text[-1],
        ]
    )
    gate = responses_format.gate()
    passed = fed(gate, stream)
    assert passed == b"".join(stream[:-1])
    assert passed + b"".join(gate.release()) == b"".join(stream)


def test_a_part_of_an_unannounced_call_is_refused_and_a_text_waits_for_the_judge() -> None:
    at = {"output_index": 7, "item_id": "fc"}
    called = event("response.function_call_arguments.delta", 2, **at, delta="{}")
    with pytest.raises(WireFormatError, match="no call"):
        fed(responses_format.gate(), [*STREAM[:2], called])
    said = event("response.output_text.delta", 2, **at, content_index=0, delta="Ha.")
    gate = responses_format.gate()
    assert fed(gate, [*STREAM[:2], said]) == b"".join(STREAM[:2])
    fed(gate, [STREAM[-1]])
    assert gate.complete is not None and "Ha." in gate.complete.messages[0].text


def test_a_mark_after_the_end_is_released_with_it() -> None:
    stream = [*STREAM, b"data: [DONE]\n\n"]
    gate = responses_format.gate()
    assert fed(gate, stream) + b"".join(gate.release()) == b"".join(stream)
    gate = responses_format.gate()
    fed(gate, stream)
    assert gate.release_without({"a"}, "No.")[-1] == b"data: [DONE]\n\n"


def test_items_still_open_when_a_call_begins_are_ended_in_the_next_round() -> None:
    text = responses_stream(Said(text="Hi."))
    opened = next(n for n, each in enumerate(text) if b"output_text.done" in each)
    custom = custom_call(2)
    stream = renumbered([*text[:opened], custom[0], *text[opened:-1], *custom[1:], text[-1]])
    gate = responses_format.gate()
    data = fed(gate, stream) + b"".join(gate.next_round())
    data += fed(gate, responses_stream(Said(text="Ho.", id="2"))) + b"".join(gate.release())
    assert seen_in_responses(data).texts == ("Hi.", "Ho.")


@pytest.mark.parametrize("held", [True, False])
def test_a_failed_response_passes_without_its_calls(held: bool) -> None:
    (ending,) = payloads(STREAM[-1])
    failed = {
        **ending,
        "type": "response.failed",
        "response": {**ending["response"], "status": "failed", "error": {"code": "server_error"}},
    }
    gate = responses_format.gate()
    shown = STREAM[:-1] if held else STREAM[:3]
    data = fed(gate, [*shown, sse(failed, failed["type"])])
    assert gate.complete is None and gate.fail_incomplete() == []
    last = payloads(data)[-1]
    assert last["type"] == "response.failed"
    if held:
        assert "function_call" not in json.dumps(last)
    with openai_client(data) as client:
        with client.responses.stream(model="m", input="go") as stream:
            assert list(stream)[-1].type == "response.failed"


def test_an_error_event_passes() -> None:
    gate = responses_format.gate()
    data = fed(gate, [*STREAM[:-1], event("error", 99, message="busy", code="x", param=None)])
    numbers = [payload["sequence_number"] for payload in payloads(data)]
    assert numbers == list(range(len(numbers)))
    assert payloads(data)[-1]["message"] == "busy" and b"function_call" not in data


def test_an_incomplete_response_ends_as_failed() -> None:
    gate = responses_format.gate()
    data = fed(gate, STREAM[:-3]) + b"".join(gate.fail_incomplete())
    with openai_client(data) as client:
        with client.responses.stream(model="m", input="go") as stream:
            last = list(stream)[-1]
    assert isinstance(last, ResponseFailedEvent) and last.response.error is not None
    assert "before its response was complete" in last.response.error.message
    assert [item.type for item in last.response.output] == ["reasoning", "message"]
    numbers = [payload["sequence_number"] for payload in payloads(data)]
    assert numbers == list(range(len(numbers)))


def test_a_response_that_never_began_ends_with_an_error() -> None:
    (payload,) = payloads(b"".join(responses_format.gate().fail_incomplete()))
    assert payload["type"] == "error" and payload["sequence_number"] == 0


@pytest.mark.parametrize(
    "members",
    [
        {"type": "response.output_item.added", "item": {}},
        {"type": "response.output_item.added", "output_index": 0, "item": 3},
        {"type": "response.output_text.delta", "output_index": "x"},
        {"type": "response.created"},
        {"type": "response.completed", "response": {"output": [3]}},
        {"type": "response.completed", "response": {"output": [{"type": "function_call"}]}},
    ],
)
def test_events_that_make_no_sense_are_refused(members: Body) -> None:
    with pytest.raises(WireFormatError):
        fed(responses_format.gate(), [sse(members)])
