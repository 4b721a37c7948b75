"""Places of an answer in which no call stands, and calls whose members are of other types."""

import json
from collections.abc import Iterator
from typing import Any

from tests.server.proxy.odd_answers.builders import (
    CHUNK,
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
from tests.server.proxy.odd_answers.edits import ARGUMENTS, BLOCK, CHAT_CALL, ITEM, SHELL
from tests.server.proxy.odd_answers.played import MARK

CALLS: dict[str, Any] = {"tool_calls": [CHAT_CALL]}
SAID: dict[str, Any] = {"id": "m", "type": "message", "role": "assistant", "content": []}
TEXT = {"type": "text", "text": ""}
START = {**BLOCK, "input": {}}
INPUT = {"type": "input_json_delta", "partial_json": json.dumps(BLOCK["input"])}
AT = {"output_index": 0, "content_index": 0, "item_id": "m"}


def streams() -> Iterator[tuple[str, str, bytes]]:
    """Format, name and bytes of each stream."""
    for name, data in _chat():
        yield "chat", name, chat(data)
    for name, data in _anthropic():
        yield "anthropic", name, messages(data)
    for name, data in _responses():
        yield "responses", name, responses(data)


def bodies() -> Iterator[tuple[str, str, Any]]:
    """Format, name and JSON of each body."""
    for name, message in _chat_messages():
        yield "chat", name, {"choices": [{"index": 0, "message": message}]}
    yield "chat", "a list of answers", [{"choices": [{"index": 0, "message": CALLS}]}]
    for name, content in _contents():
        yield "anthropic", name, {**MESSAGE, "usage": USAGE, "content": content}
    for name, output in _outputs():
        yield "responses", name, {**RESPONSE, "output": output}


def _called(**members: Any) -> dict[str, Any]:
    return {**CHAT_CALL, "function": {**FUNCTION, **members}}


def _chat() -> Iterator[tuple[str, bytes]]:
    for name, calls in {
        "an object": {"0": CHAT_CALL},
        "a list of lists": [[CHAT_CALL]],
        "nothing and a call": [None, CHAT_CALL],
        "arguments as an object": [_called(arguments={"to": MARK})],
        "arguments in a list": [_called(arguments=[ARGUMENTS])],
        "a function in a function": [_called(function=FUNCTION)],
        "a call in another member": [{**CHAT_CALL, "extra": {"x": CALLS}}],
        "number 0.0": [{**CHAT_CALL, "index": 0.0}],
        "number true": [{**CHAT_CALL, "index": True}],
        "number as a text": [{**CHAT_CALL, "index": "0"}],
        "id as a number": [{**CHAT_CALL, "id": 7}],
        "no id": [{**CHAT_CALL, "id": None}],
    }.items():
        yield f"calls: {name}", chunk(choice({"tool_calls": calls}))
    first = {**CHAT_CALL, "function": {"name": "send_", "arguments": ""}}
    rest = {"index": 0, "function": {"name": "money", "arguments": ARGUMENTS}}
    yield (
        "a name in pieces",
        chunk(choice({"tool_calls": [first]})) + chunk(choice({"tool_calls": [rest]})),
    )
    yield "delta as a list", chunk(choice([CALLS]))
    yield "delta in delta", chunk(choice({"delta": CALLS}))
    yield "a choice without a number", chunk({"delta": CALLS})
    yield "a choice with a text as number", chunk(choice(CALLS, index="0"))
    yield "in the reason", chunk(choice({"content": "x"}, {"reason": "stop", **CALLS}))
    for key in ("refusal", "role", "audio", "tools_calls", "tool_call\u0455", "tool\u200b_calls"):
        yield f"in {key!r}", chunk(choice({key: [CHAT_CALL]}))
    yield "beside a false error", sse({**CHUNK, "error": False, "choices": [choice(CALLS)]})
    yield "beside an error that is a text", sse({"error": "x", "choices": [choice(CALLS)]})
    whole = raw_of({**CHUNK, "choices": [choice(CALLS)]})
    yield "two objects in an event", b"data: {}" + whole + b"\n\n"
    yield "a list in an event", b"data: [" + whole + b"]\n\n"
    yield "JSON as a text in an event", sse(whole.decode())
    yield (
        "escaped choices twice",
        b'data: {"choices":[],"cho\\u0069ces":[{"index":0,"delta":%s}]}\n\n' % raw_of(CALLS),
    )
    yield (
        "after no number",
        b'data: {"choices":[{"index":0,"x":NaN,"delta":%s}]}\n\n' % raw_of(CALLS),
    )


def _anthropic() -> Iterator[tuple[str, bytes]]:
    yield "input as a text", block({**BLOCK, "input": json.dumps(BLOCK["input"])})
    yield "input as a list", block({**BLOCK, "input": [BLOCK["input"]]})
    yield "a piece that is an object", block(START, {**INPUT, "partial_json": BLOCK["input"]})
    yield "a block as a list", block([BLOCK])
    yield "a text as a list", block({"type": "text", "text": [BLOCK]})
    for kind in ("tool_result", "web_search_tool_result", "compaction", "mcp_tool_result"):
        yield f"in {kind}", block({"type": kind, "tool_use_id": "s", "content": [BLOCK]})
    yield "in an upload", block({"type": "container_upload", "file_id": BLOCK})
    yield "in a signature", block({"type": "thinking", "thinking": "", "signature": BLOCK})
    yield "in redacted thinking", block({"type": "redacted_thinking", "data": BLOCK})
    yield "a block without an end", block(BLOCK).rsplit(b"event:", 1)[0]
    late = {"type": "content_block_delta", "index": 0, "delta": {**INPUT, "partial_json": "{}"}}
    yield "a piece after the end", block(START, INPUT) + named(late)
    yield (
        "after an error",
        named({"type": "error", "error": {"message": "x"}}) + block(BLOCK),
    )
    yield (
        "in blocks beside a block",
        named(
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": TEXT,
                "content_blocks": [BLOCK],
            }
        ),
    )


def _responses() -> Iterator[tuple[str, bytes]]:
    empty = {**ITEM, "arguments": ""}
    for name, said in {
        "in the content of a message": {**SAID, "content": [ITEM]},
        "in another member of a message": {**SAID, **CALLS},
        "in a summary": {"type": "reasoning", "id": "r", "summary": [ITEM]},
        "in a message, without a type": {**SAID, "x": {"name": "pay", "arguments": ARGUMENTS}},
    }.items():
        yield name, added(said) + done(said)
    yield "arguments as an object", added(empty) + done({**ITEM, "arguments": {"to": MARK}})
    yield "a part that is a call", added(SAID) + event("content_part.added", **AT, part=ITEM)
    yield "a piece that is a call", added(SAID) + event("output_text.delta", **AT, delta=ITEM)
    yield "a text with a call", added(SAID) + event("output_text.done", **AT, text="x", item=ITEM)
    yield "a piece of text for a call", added(empty) + event("output_text.delta", **AT, delta=MARK)
    for number in ("0", -1, 0.0, None, True):
        begun: Any = number
        yield f"number {number!r}", added(empty, begun) + done(ITEM, begun)
    yield "an item as a list", event("output_item.done", output_index=0, item=[ITEM])
    yield "items", event("output_item.done", output_index=0, item=SAID, items=[ITEM])
    for key in ("incomplete_details", "error", "reasoning", "text", "prompt"):
        response = {**RESPONSE, "output": [], key: {"x": [ITEM]}}
        yield f"in {key}", event("in_progress", response=response)
    alone = {**SHELL, "environment": {"type": "container_reference"}}
    yield "a shell of the provider without output", done(alone)
    search = {"type": "tool_search_call", "id": "x", "call_id": "c", "arguments": {"q": MARK}}
    yield "a search at the Server", done({**search, "execution": "Server"})
    yield "a name in a space", done({**ITEM, "namespace": "bank"})


def _chat_messages() -> Iterator[tuple[str, Any]]:
    yield "delta in a message", {"role": "assistant", "content": "x", "delta": CALLS}
    yield "a message as a list", [CALLS]
    yield (
        "arguments as an object",
        {"content": "x", "tool_calls": [_called(arguments={"to": MARK})]},
    )
    yield "nothing and a call", {"content": "x", "tool_calls": [None, CHAT_CALL]}


def _contents() -> Iterator[tuple[str, Any]]:
    yield "in another member of a text", [{**TEXT, "blocks": [BLOCK]}]
    yield "nothing and a block", [None, BLOCK]
    yield "a list in a list", [[BLOCK]]
    yield "a block as a text", [json.dumps(BLOCK)]


def _outputs() -> Iterator[tuple[str, Any]]:
    yield "nothing and an item", [None, ITEM]
    yield "a list in a list", [[ITEM]]
    yield "an item as a text", [json.dumps(ITEM)]
