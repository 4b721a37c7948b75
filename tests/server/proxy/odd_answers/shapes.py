"""A list of odd answers, each with one call that no one asked for, and what becomes of it.

`python -m tests.server.proxy.odd_answers.shapes` prints the table: how many of each kind were
judged, refused, or came without the call.
"""

import json
import logging
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.engine.sessions import run
from tests.server.proxy.odd_answers import places
from tests.server.proxy.odd_answers.builders import (
    CHUNK,
    DONE,
    FUNCTION,
    MESSAGE,
    RESPONSE,
    USAGE,
    added,
    block,
    chat,
    choice,
    chunk,
    done,
    event,
    messages,
    named,
    raw_of,
    responses,
    sse,
)
from tests.server.proxy.odd_answers.edits import (
    ARGUMENTS,
    BLOCK,
    CHAT_CALL,
    CUSTOM_CALL,
    ITEM,
    SHELL,
)
from tests.server.proxy.odd_answers.played import MARK, acted_on, played

_SPELLINGS = ("Tool_Use", "TOOL_USE", "tool-use", "tooluse", " tool_use", "tool_use ", "toolUse")


@dataclass(frozen=True)
class Shape:
    """One odd answer."""

    kind: str
    name: str
    format: str
    data: bytes
    streams: bool = True

    def __str__(self) -> str:
        return f"{self.format} {self.kind}: {self.name}"

    def outcome(self) -> str:
        """What became of the call in it: judged, refused, harmless or passed."""
        found = run(played(self.format, [self.data], streams=self.streams))
        acted = acted_on(self.format, found.data, streams=self.streams)
        if MARK.encode() in found.data or not all(map(found.has_judged, acted)):
            return "passed"
        if any(MARK in arguments for _, arguments in found.judged):
            return "judged"
        return "refused" if found.refused or found.data == b"" else "harmless"


def shapes() -> Iterator[Shape]:
    """All shapes."""
    for name, data in _chat_streams():
        yield Shape("stream", name, "chat", data)
    for name, body in _chat_bodies():
        yield Shape("body", name, "chat", raw_of(body), streams=False)
    for name, data in _anthropic_streams():
        yield Shape("stream", name, "anthropic", data)
    for name, body in _anthropic_bodies():
        yield Shape("body", name, "anthropic", raw_of(body), streams=False)
    for name, data in _responses_streams():
        yield Shape("stream", name, "responses", data)
    for name, body in _responses_bodies():
        yield Shape("body", name, "responses", raw_of(body), streams=False)
    for format, name, data in places.streams():
        yield Shape("place in a stream", name, format, data)
    for format, name, body in places.bodies():
        yield Shape("place in a body", name, format, raw_of(body), streams=False)
    for format, data in _CALLED.items():
        for name, changed in _framings(data):
            yield Shape("framing", name, format, changed)


def _chat_streams() -> Iterator[tuple[str, bytes]]:
    call: dict[str, Any] = {"tool_calls": [CHAT_CALL]}
    yield "a call", chat(chunk(choice(call)))
    yield "message for delta", chat(chunk({"index": 0, "message": call, "finish_reason": None}))
    yield "message beside delta", chat(chunk(choice({"content": "x"}, message=call)))
    yield "no choices, message at the top", chat(sse({**CHUNK, "message": call}))
    yield "no choices, calls at the top", chat(sse({**CHUNK, **call}))
    yield "no choices, delta at the top", chat(sse({**CHUNK, "delta": call}))
    yield "calls at the top beside choices", chat(chunk(choice({"content": "x"}), **call))
    yield "calls in the choice", chat(chunk(choice({}, **call)))
    yield "choices as an object", chat(sse({**CHUNK, "choices": choice(call)}))
    yield "choices within choices", chat(chunk(choice({"choices": [choice(call)]})))
    yield "a call in an unknown member", chat(chunk(choice({"content": "x", "extra": call})))
    yield "a call in the usage's neighbour", chat(chunk(choice({}), x_info=[{"calls": [call]}]))
    yield "a call in content parts", chat(chunk(choice({"content": [BLOCK]})))
    yield "content as an object", chat(chunk(choice({"content": call})))
    for key in ("Tool_Calls", "toolCalls", "TOOL_CALLS", "tool-calls", "tool_calls ", "tool_call"):
        yield f"{key!r} for tool_calls", chat(chunk(choice({key: [CHAT_CALL]})))
    for key in ("Choices", "CHOICES", "choice s"):
        yield f"{key!r} beside choices", chat(chunk(choice({}), **{key: [choice(call)]}))
    yield "Delta beside delta", chat(chunk(choice({"content": "x"}, Delta=call)))
    yield "a legacy call", chat(chunk(choice({"function_call": FUNCTION})))
    yield "legacy and new call", chat(chunk(choice({**call, "function_call": FUNCTION})))
    yield "functionCall", chat(chunk(choice({"functionCall": FUNCTION})))
    both = {**CHAT_CALL, "custom": CUSTOM_CALL["custom"]}
    yield "function and custom in one", chat(chunk(choice({"tool_calls": [both]})))
    lying = {**CHAT_CALL, "type": "custom"}
    yield "custom with a function", chat(chunk(choice({"tool_calls": [lying]})))
    spelled = {**CHAT_CALL, "type": "Function"}
    yield "Function for function", chat(chunk(choice({"tool_calls": [spelled]})))
    unknown = {"index": 0, "id": "x", "type": "shell", "shell": {"command": MARK}}
    yield "a call of an unknown type", chat(chunk(choice({"tool_calls": [unknown]})))
    yield "a custom call", chat(chunk(choice({"tool_calls": [{**CUSTOM_CALL, "index": 0}]})))
    later = {"index": 0, "type": "custom", "custom": CUSTOM_CALL["custom"]}
    yield "two types in pieces", chat(chunk(choice(call)), chunk(choice({"tool_calls": [later]})))
    yield (
        "a second choice",
        chat(chunk(choice({}), choice(call, index=1)), chunk(choice({}, "tool_calls", 1))),
    )
    yield (
        "the second choice first",
        chat(chunk(choice(call, index=1)), chunk(choice({}, "tool_calls", 1))),
    )
    yield (
        "two calls with one number",
        chat(
            chunk(choice({"tool_calls": [CHAT_CALL]})),
            chunk(choice({"tool_calls": [{**CHAT_CALL, "id": "other"}]})),
        ),
    )
    yield (
        "numbers that begin at 7",
        chat(chunk(choice({"tool_calls": [{**CHAT_CALL, "index": 7}]}))),
    )
    no_number = {key: value for key, value in CHAT_CALL.items() if key != "index"}
    yield "no number", chat(chunk(choice({"tool_calls": [no_number]})))
    yield "reason stop", chat(chunk(choice(call)), reason="stop")
    yield "reason length", chat(chunk(choice(call)), reason="length")
    yield "no reason", chunk(choice(call)) + DONE
    yield "no reason and no end", chunk(choice(call))
    yield "a call after the reason", chat() + chunk(choice(call))
    yield "a call after the end", chat() + chunk(choice(call)) + DONE
    yield "a call beside an error", chat(chunk(choice(call), error={"message": "busy"}))
    yield "a call in an error", chat(sse({"error": {"message": "busy", **call}}))
    twice = b'{"id":"x","choices":[],"choices":[{"index":0,"delta":%s}]}' % raw_of(call)
    yield "choices twice", chat(b"data: " + twice + b"\n\n")
    function = b'{"name":"read_file","name":"send_money","arguments":%s}' % raw_of(ARGUMENTS)
    named_twice = (
        b'{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":%s}]}}]}'
    )
    yield "a name twice", chat(b"data: " + named_twice % function + b"\n\n")
    doubled: dict[str, Any] = {**FUNCTION, "arguments": '{"to": "evil", "to": "me"}'}
    yield (
        "an argument twice",
        chat(chunk(choice({"tool_calls": [{**CHAT_CALL, "function": doubled}]}))),
    )


def _chat_bodies() -> Iterator[tuple[str, Any]]:
    def body(message: Any, **members: Any) -> dict[str, Any]:
        spoken = {"index": 0, "message": message, "finish_reason": "tool_calls", **members}
        return {"id": "chatcmpl-1", "object": "chat.completion", "choices": [spoken]}

    call = {"tool_calls": [CHAT_CALL]}
    said = {"role": "assistant", "content": "Hm."}
    yield "a call", body({**said, **call})
    yield "delta for message", {"choices": [choice(call)]}
    yield "delta beside message", body(said, delta=call)
    yield "no choices", {"id": "x", "message": {**said, **call}}
    yield "calls at the top", {**body(said), **call}
    yield "output beside choices", {**body(said), "output": [ITEM]}
    yield "content beside choices", {**body(said), "content": [BLOCK]}
    yield "toolCalls", body({**said, "toolCalls": [CHAT_CALL]})
    yield "Message", {"choices": [{"index": 0, "message": said, "Message": call}]}
    yield (
        "function and custom",
        body({**said, "tool_calls": [{**CHAT_CALL, "custom": CUSTOM_CALL["custom"]}]}),
    )
    yield "a legacy call", body({**said, "function_call": FUNCTION})
    yield (
        "two choices",
        {"choices": [*body(said)["choices"], {"index": 1, "message": {**said, **call}}]},
    )
    yield "choices twice", b'{"choices":[{"message":%s}],"choices":[]}' % raw_of(call)
    yield "a call in an unknown member", body({**said, "extra": {"deep": [call]}})
    yield "a call in an annotation's neighbour", {**body(said), "x": [[[ITEM]]]}
    yield "calls as an object", body({**said, "tool_calls": CHAT_CALL})
    yield "an object of a stream", {**CHUNK, "choices": [choice(call)]}
    yield "a stream", chat(chunk(choice(call)))
    yield "a byte order mark", b"\xef\xbb\xbf" + raw_of(body({**said, **call}))
    yield "UTF-16", json.dumps(body({**said, **call})).encode("utf-16")
    yield "two bodies", raw_of(body(said)) + raw_of(body({**said, **call}))
    yield "an error beside choices", {**body({**said, **call}), "error": {"message": "x"}}


def _anthropic_streams() -> Iterator[tuple[str, bytes]]:
    start = {**BLOCK, "input": {}}
    written = {"type": "input_json_delta", "partial_json": json.dumps(BLOCK["input"])}
    text = {"type": "text", "text": ""}
    yield "a call", messages(block(start, written))
    yield "a call with its input at once", messages(block(BLOCK))
    yield "two inputs", messages(block(BLOCK, {**written, "partial_json": '{"to": "me"}'}))
    yield "content in message_start", messages(start={**MESSAGE, "content": [BLOCK]})
    yield "Content in message_start", messages(start={**MESSAGE, "Content": [BLOCK]})
    yield "tool_calls in message_start", messages(start={**MESSAGE, "tool_calls": [CHAT_CALL]})
    yield (
        "a second message_start",
        messages(named({"type": "message_start", "message": {**MESSAGE, "content": [BLOCK]}})),
    )
    yield (
        "content in message_delta",
        messages(named({"type": "message_delta", "delta": {"content": [BLOCK]}, "usage": USAGE})),
    )
    yield "content in message_stop", messages(named({"type": "message_stop", "content": [BLOCK]}))
    yield "a block in a ping", messages(named({"type": "ping", "content_block": BLOCK}))
    yield (
        "a block in an error",
        messages(named({"type": "error", "error": {"message": "x", "block": BLOCK}})),
    )
    for kind in (*_SPELLINGS, "function_call", "custom_tool_use", "shell", "computer_use", ""):
        yield f"a block of type {kind!r}", messages(block({**BLOCK, "type": kind}))
    yield "a block without a type", messages(block({**BLOCK, "type": None}))
    for kind in (
        "Content_Block_Start",
        "content-block-start",
        "contentBlockStart",
        "CONTENT_BLOCK_START",
    ):
        begun = {"type": kind, "index": 0, "content_block": BLOCK}
        yield f"an event of type {kind!r}", messages(named(begun))
    yield (
        "an unknown event with a block",
        messages(named({"type": "content_block_replaced", "index": 0, "content_block": BLOCK})),
    )
    yield (
        "an unknown event with a call deep in it",
        messages(named({"type": "new", "x": [{"y": BLOCK}]})),
    )
    yield "input for a text", messages(block(text, written))
    yield "text for a call", messages(block(start, {"type": "text_delta", "text": MARK}))
    yield (
        "a name in a delta",
        messages(block({**start, "name": "read_"}, {"type": "text_delta", "name": MARK}, written)),
    )
    yield "Input_Json_Delta", messages(block(start, {**written, "type": "Input_Json_Delta"}))
    yield "a block within a text", messages(block({**text, "content": [BLOCK]}))
    yield "a number twice", messages(block(text), block(start, written))
    yield "blocks out of order", messages(block(start, written, index=3), block(text, index=0))
    yield (
        "a number as a text",
        messages(named({"type": "content_block_start", "index": "0", "content_block": BLOCK})),
    )
    yield "no message_start", block(start, written) + named({"type": "message_stop"})
    yield "no message_stop", messages(block(start, written)).rsplit(b"event:", 1)[0]
    yield "a block after the end", messages() + block(start, written)
    yield "reason end_turn", messages(block(start, written), reason="end_turn")
    yield (
        "an argument twice",
        messages(block(start, {**written, "partial_json": '{"to": "evil", "to": "me"}'})),
    )
    yield (
        "a type twice",
        messages(
            b'event: content_block_start\ndata: {"type":"content_block_start","index":0,'
            b'"content_block":{"type":"tool_use","id":"a","name":"send_money","input":{"to":"evil"},'
            b'"type":"text"}}\n\n'
        ),
    )
    server = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    yield (
        "an unknown result with an input",
        messages(block({**BLOCK, "type": "odd_tool_result"}), block(server, index=1)),
    )


def _anthropic_bodies() -> Iterator[tuple[str, Any]]:
    def body(*blocks: Any, **members: Any) -> dict[str, Any]:
        return {**MESSAGE, "content": list(blocks), "usage": USAGE, **members}

    text = {"type": "text", "text": "Hm."}
    yield "a call", body(text, BLOCK)
    for kind in (*_SPELLINGS, "function_call", "shell", ""):
        yield f"a block of type {kind!r}", body({**BLOCK, "type": kind})
    yield "a block without a type", body({"id": "x", "name": "send_money", "input": {"to": MARK}})
    yield "no content", {**body(), "content": None, "tool_calls": [CHAT_CALL]}
    yield "Content", body(text, Content=[BLOCK])
    yield "choices beside content", body(text, choices=[{"message": {"tool_calls": [CHAT_CALL]}}])
    yield "a block within a text", body({**text, "content": [BLOCK]})
    yield "a block in an unknown member", body(text, extra={"a": [BLOCK]})
    yield "content as an object", {**body(), "content": BLOCK}
    yield "content twice", b'{"content":[%s],"content":[]}' % raw_of(BLOCK)
    yield (
        "an argument twice",
        b'{"content":[{"type":"tool_use","id":"a","name":"send_money",'
        + (b'"input":{"to":"evil","to":"me"}}]}'),
    )


def _responses_streams() -> Iterator[tuple[str, bytes]]:
    empty = {**ITEM, "arguments": ""}
    benign = {**ITEM, "name": "read_file", "arguments": "{}"}
    said = {"id": "m", "type": "message", "role": "assistant", "content": []}
    at = {"item_id": "fc_x", "output_index": 0}
    yield "a call", responses(added(empty), done(ITEM), output=[ITEM])
    for kind in ("created", "queued", "in_progress"):
        begun = {**RESPONSE, "output": [ITEM]}
        yield f"a call in {kind}", responses(event(kind, response=begun))
    yield "a call in the first created", responses(begun=[ITEM])
    yield "a call in done", responses(event("done", response={**RESPONSE, "output": [ITEM]}))
    yield "a call in completed only", responses(output=[ITEM])
    yield "a call in incomplete only", responses(output=[ITEM], ending="incomplete")
    yield "a call in failed", responses(output=[ITEM], ending="failed")
    yield "a call in an unknown event", responses(event("moved", item=ITEM))
    yield "a call deep in an unknown event", responses(event("moved", x={"y": [ITEM]}))
    yield "another item in done", responses(added(empty), done(ITEM), output=[benign])
    yield "another item in added", responses(added(ITEM), done(benign), output=[benign])
    yield (
        "other deltas",
        responses(
            added(empty),
            event("function_call_arguments.delta", **at, delta=ARGUMENTS),
            done({**ITEM, "arguments": "{}"}),
        ),
    )
    yield (
        "other final arguments",
        responses(
            added({**ITEM, "arguments": ""}),
            event("function_call_arguments.done", **at, arguments=ARGUMENTS, name="send_money"),
            done({**ITEM, "arguments": "{}"}),
        ),
    )
    yield (
        "another name in the arguments' end",
        responses(
            added({**benign, "arguments": ""}),
            event("function_call_arguments.done", **at, arguments="{}", name=MARK),
            done(benign),
        ),
    )
    yield "a message becomes a call", responses(added(said), done(ITEM), output=[])
    yield "a call becomes a message", responses(added(ITEM), done({**said, "id": "fc_x"}))
    yield "an item added twice", responses(added(said), added(ITEM), done(said))
    yield "an item done twice", responses(added(empty), done(ITEM), done(benign))
    yield (
        "arguments without an item",
        responses(
            event(
                "function_call_arguments.done", item_id="f", arguments=ARGUMENTS, name="send_money"
            )
        ),
    )
    yield (
        "arguments of an unannounced item",
        responses(
            event("function_call_arguments.done", **at, arguments=ARGUMENTS, name="send_money")
        ),
    )
    yield (
        "arguments for a message",
        responses(
            added(said), event("function_call_arguments.delta", **at, delta=ARGUMENTS), done(said)
        ),
    )
    yield (
        "the same call twice at the end",
        responses(added(empty), done(benign), output=[benign, ITEM]),
    )
    yield (
        "an output beside the call",
        responses(
            added(empty),
            done(ITEM),
            output=[ITEM, {"type": "function_call_output", "call_id": "call_x", "output": "ok"}],
        ),
    )
    for kind in ("Function_Call", "FUNCTION_CALL", "function-call", "functioncall", "functionCall"):
        spelled = {**ITEM, "type": kind}
        yield f"an item of type {kind!r}", responses(added(spelled), done(spelled))
    for kind in (
        "Response.Output_Item.Done",
        "response.output-item.done",
        "response.outputItem.done",
    ):
        made = {"type": kind, "output_index": 0, "item": ITEM}
        yield f"an event of type {kind!r}", responses(named(made))
    for item in _acting_items():
        yield f"{item['type']}", responses(added(item), done(item), output=[item])
    yield (
        "item and response in one",
        responses(
            event("output_item.done", output_index=0, item=said, response={"output": [ITEM]})
        ),
    )
    yield "blocks out of order", responses(added(empty, 4), done(ITEM, 4), output=[ITEM])
    yield "a call after the end", responses(output=[said]) + added(ITEM)
    yield "no end", responses(added(empty), done(ITEM)).rsplit(b"event:", 1)[0]
    command = event("shell_call_command.delta", output_index=0, command_index=0, delta=MARK)
    quiet = {**SHELL, "action": {"commands": ["ls"]}}
    yield "another command", responses(added(quiet), command, done(quiet))


def _acting_items() -> Iterator[dict[str, Any]]:
    given = {"id": "x", "call_id": "call_x", "status": "completed"}
    yield {**given, "type": "shell_call", "action": {"commands": [MARK]}}
    yield {**given, "type": "local_shell_call", "action": {"type": "exec", "command": [MARK]}}
    yield {**given, "type": "apply_patch_call", "operation": {"type": "delete_file", "path": MARK}}
    yield {**given, "type": "computer_call", "action": {"type": "type", "text": MARK}}
    yield {**given, "type": "computer_call", "actions": [{"type": "type", "text": MARK}]}
    yield {**given, "type": "custom_tool_call", "name": "sql", "input": MARK}
    yield {**given, "type": "tool_search_call", "execution": "client", "arguments": {"q": MARK}}
    yield {"id": "m", "type": "mcp_approval_request", "server_label": "s", "name": "pay"} | {
        "arguments": ARGUMENTS
    }
    yield {**given, "type": "robot_action", "where": MARK}
    yield {**given, "type": "browser_call", "name": "read_file", "url": MARK}
    yield {**given, "type": "browser_call_output", "command": MARK}


def _responses_bodies() -> Iterator[tuple[str, Any]]:
    said = {"id": "m", "type": "message", "role": "assistant", "content": []}
    yield "a call", {**RESPONSE, "output": [said, ITEM]}
    yield "no output", {**RESPONSE, "tool_calls": [CHAT_CALL]}
    yield "Output", {**RESPONSE, "output": [said], "Output": [ITEM]}
    yield "choices", {**RESPONSE, "output": [], "choices": [{"message": ITEM}]}
    yield "output as an object", {**RESPONSE, "output": ITEM}
    yield "output twice", b'{"id":"r","output":[%s],"output":[]}' % raw_of(ITEM)
    yield "a call in a message", {**RESPONSE, "output": [{**said, "content": [ITEM]}]}
    yield "a call in an unknown member", {**RESPONSE, "output": [said], "x": {"y": [ITEM]}}
    yield (
        "an output beside the call",
        {
            **RESPONSE,
            "output": [ITEM, {"type": "function_call_output", "call_id": "call_x", "output": "ok"}],
        },
    )
    yield (
        "an output in the call before it",
        {
            **RESPONSE,
            "output": [
                {**ITEM, "call_id": "a", "name": "read_file", "arguments": "{}", "output": "x"},
                ITEM,
            ],
        },
    )
    yield "an item without a type", {**RESPONSE, "output": [{**ITEM, "type": None}]}
    for item in _acting_items():
        yield f"{item['type']}", {**RESPONSE, "output": [item]}


_CALLED = {
    "chat": chat(chunk(choice({"tool_calls": [CHAT_CALL]}))),
    "anthropic": messages(block(BLOCK)),
    "responses": responses(added({**ITEM, "arguments": ""}), done(ITEM), output=[ITEM]),
}
"""An answer with a call in each format."""


def _framings(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The same stream, framed in other ways."""
    events = [each for each in data.split(b"\n\n") if each]
    lines = [each.rpartition(b"data: ") for each in events]
    payloads = [payload for _, _, payload in lines]
    yield "CR only", data.replace(b"\n", b"\r")
    yield "CRLF", data.replace(b"\n", b"\r\n")
    yield "LF and CRLF mixed", data.replace(b"\n\n", b"\n\r\n")
    yield "a byte order mark", b"\xef\xbb\xbf" + data
    yield (
        "a byte order mark in each event",
        b"\xef\xbb\xbf" + data.replace(b"\n\n", b"\n\n\xef\xbb\xbf"),
    )
    yield "no blank after data", data.replace(b"data: ", b"data:")
    yield "blanks before data", data.replace(b"data: ", b" data: ")
    yield "Data for data", data.replace(b"data: ", b"Data: ")
    yield "no blank line at the end", data.rstrip(b"\n")
    yield "no event names", b"".join(b"data: " + payload + b"\n\n" for payload in payloads)
    yield (
        "other event names",
        b"".join(b"event: ping\ndata: " + payload + b"\n\n" for payload in payloads),
    )
    yield (
        "two event names",
        b"".join(b"event: ping\nevent: x\ndata: " + payload + b"\n\n" for payload in payloads),
    )
    bare = [_without_type(payload) for payload in payloads]
    yield (
        "types in event names only",
        b"".join(
            head + b"data: " + payload + b"\n\n"
            for (head, _, _), payload in zip(lines, bare, strict=True)
        ),
    )
    yield "data in several lines", data.replace(b', "', b',\ndata: "')
    yield "ids and retries", data.replace(b"data: ", b"id: 7\nretry: 9\ndata: ")
    yield "in a comment", b"".join(b": " + payload + b"\n\n" for payload in payloads)
    yield (
        "in a comment with a separator",
        b"".join(b": \xe2\x80\xa8data: " + payload + b"\n\n" for payload in payloads),
    )
    yield "in an id", b"".join(b"id: " + payload + b"\n\n" for payload in payloads)
    yield "in an unknown field", b"".join(b"delta: " + payload + b"\n\n" for payload in payloads)
    yield "bare JSON lines", b"".join(payload + b"\n" for payload in payloads)
    yield "one bare JSON", payloads[min(1, len(payloads) - 1)]
    yield "no UTF-8", data.replace(b"send_money", b"send_money\xff")
    yield "a lone surrogate", data.replace(b"send_money", b"send_money\\ud83e")
    yield "only the first half", data[: len(data) // 2]


def _without_type(payload: bytes) -> bytes:
    if payload == b"[DONE]":
        return payload
    value = json.loads(payload)
    return json.dumps({key: each for key, each in value.items() if key != "type"}).encode()


def table() -> str:
    """How many shapes of each kind came to which end."""
    counts = Counter(((each.format, each.kind), each.outcome()) for each in shapes())
    kinds = sorted({kind for kind, _ in counts})
    ends = ("judged", "refused", "harmless", "passed")
    rows = [
        f"| {format} | {kind} | "
        + " | ".join(str(counts[(format, kind), end]) for end in ends)
        + " |"
        for format, kind in kinds
    ]
    total = [str(sum(counts[kind, end] for kind in kinds)) for end in ends]
    return "\n".join(
        [
            "| format | kind | judged | refused | without the call | passed unjudged |",
            "| --- | --- | --- | --- | --- | --- |",
            *rows,
            f"| all | {len(kinds)} kinds | " + " | ".join(total) + " |",
        ]
    )


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    print(table())
