"""Streams as the three providers document them, with the content of a test."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Call:
    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Said:
    """What a model says in one stream."""

    text: str = ""
    calls: Sequence[Call] = ()
    id: str = "1"


def pieces(text: str, count: int = 3) -> list[str]:
    size = max(1, -(-len(text) // count))
    return [text[start : start + size] for start in range(0, len(text), size)]


def sse(payload: dict[str, Any], name: str | None = None) -> bytes:
    opening = "" if name is None else f"event: {name}\n"
    data = json.dumps(payload, ensure_ascii=False, separators=(", ", ": "))
    return f"{opening}data: {data}\n\n".encode()


def chat_stream(said: Said) -> list[bytes]:
    head = {
        "id": f"chatcmpl-{said.id}",
        "object": "chat.completion.chunk",
        "created": 1700000000 + int(said.id),
        "model": "m",
        "system_fingerprint": "fp",
        "x_unknown": {"kept": True},
    }

    def chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return sse({**head, "choices": [choice], "usage": None, "obfuscation": "abc"})

    events = [chunk({"role": "assistant", "content": "" if said.text else None, "refusal": None})]
    events += [chunk({"content": piece}) for piece in pieces(said.text)]
    for number, call in enumerate(said.calls):
        function = {"name": call.name, "arguments": ""}
        opening = {"index": number, "id": call.id, "type": "function", "function": function}
        events.append(chunk({"tool_calls": [opening]}))
        events += [
            chunk({"tool_calls": [{"index": number, "function": {"arguments": piece}}]})
            for piece in pieces(call.arguments)
        ]
    events.append(chunk({}, "tool_calls" if said.calls else "stop"))
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "total_tokens": 15,
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    events.append(sse({**head, "choices": [], "usage": usage}))
    return [*events, b"data: [DONE]\n\n"]


def anthropic_stream(said: Said) -> list[bytes]:
    def event(kind: str, **members: Any) -> bytes:
        return sse({"type": kind, **members}, kind)

    message: dict[str, Any] = {
        "id": f"msg_{said.id}",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 0, "output_tokens": 1},
    }
    events = [event("message_start", message=message), event("ping")]
    number = 0
    if said.text:
        block = {"type": "text", "text": ""}
        events.append(event("content_block_start", index=0, content_block=block))
        for piece in pieces(said.text):
            delta = {"type": "text_delta", "text": piece}
            events.append(event("content_block_delta", index=0, delta=delta))
        events.append(event("content_block_stop", index=0))
        number = 1
    for index, call in enumerate(said.calls, start=number):
        tool = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        events.append(event("content_block_start", index=index, content_block=tool))
        for piece in ["", *pieces(call.arguments)]:
            json_delta = {"type": "input_json_delta", "partial_json": piece}
            events.append(event("content_block_delta", index=index, delta=json_delta))
        events.append(event("content_block_stop", index=index))
    ending = {"stop_reason": "tool_use" if said.calls else "end_turn", "stop_sequence": None}
    events.append(event("message_delta", delta=ending, usage={"output_tokens": 5}))
    return [*events, event("message_stop")]


def responses_stream(said: Said) -> list[bytes]:
    return [sse(payload, payload["type"]) for payload in _responses_payloads(said)]


def _responses_payloads(said: Said) -> Iterator[dict[str, Any]]:
    numbered = iter(range(10**6))

    def event(kind: str, **members: Any) -> dict[str, Any]:
        return {"type": f"response.{kind}", "sequence_number": next(numbered), **members}

    response: dict[str, Any] = {
        "id": f"resp_{said.id}",
        "object": "response",
        "created_at": 1700000000 + int(said.id),
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "model": "m",
        "output": [],
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "tool_choice": "auto",
        "tools": [],
        "usage": None,
        "metadata": {},
    }
    yield event("created", response=response)
    yield event("in_progress", response=response)
    output: list[dict[str, Any]] = []
    reasoning = {"id": f"rs_{said.id}", "type": "reasoning", "summary": []}
    yield event("output_item.added", output_index=0, item=reasoning)
    yield event("output_item.done", output_index=0, item=reasoning)
    output.append(reasoning)
    if said.text:
        part = {"type": "output_text", "text": said.text, "annotations": [], "logprobs": []}
        message = {
            "id": f"msg_{said.id}",
            "type": "message",
            "status": "completed",
            "role": "assistant",
            "content": [part],
        }
        at = {"item_id": message["id"], "output_index": 1, "content_index": 0}
        started = {**message, "status": "in_progress", "content": []}
        yield event("output_item.added", output_index=1, item=started)
        yield event("content_part.added", **at, part={**part, "text": ""})
        for piece in pieces(said.text):
            yield event("output_text.delta", **at, delta=piece, logprobs=[])
        yield event("output_text.done", **at, text=said.text, logprobs=[])
        yield event("content_part.done", **at, part=part)
        yield event("output_item.done", output_index=1, item=message)
        output.append(message)
    for call in said.calls:
        index = len(output)
        item = {
            "id": f"fc_{call.id}",
            "type": "function_call",
            "status": "completed",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments,
        }
        at = {"item_id": item["id"], "output_index": index}
        begun = {**item, "status": "in_progress", "arguments": ""}
        yield event("output_item.added", output_index=index, item=begun)
        for piece in pieces(call.arguments):
            yield event("function_call_arguments.delta", **at, delta=piece)
        yield event("function_call_arguments.done", **at, arguments=call.arguments)
        yield event("output_item.done", output_index=index, item=item)
        output.append(item)
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 2},
        "total_tokens": 15,
    }
    done = {**response, "status": "completed", "output": output, "usage": usage}
    yield event("completed", response=done)
