"""Answers of providers, built from their parts, as bytes."""

import json
from typing import Any

from tests.server.proxy.odd_answers.edits import CHAT_CALL

CHUNK = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
DONE = b"data: [DONE]\n\n"
MESSAGE = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
USAGE = {"input_tokens": 1, "output_tokens": 1}
RESPONSE = {"id": "resp_1", "object": "response", "status": "completed", "model": "m"}
FUNCTION: Any = CHAT_CALL["function"]


def sse(payload: Any, name: str | None = None) -> bytes:
    head = "" if name is None else f"event: {name}\n"
    return f"{head}data: {json.dumps(payload)}\n\n".encode()


def chunk(*choices: Any, **members: Any) -> bytes:
    return sse({**CHUNK, "choices": list(choices), **members})


def choice(delta: Any, reason: Any = None, index: Any = 0, **members: Any) -> dict[str, Any]:
    return {"index": index, "delta": delta, "finish_reason": reason, **members}


def chat(*chunks: bytes, reason: str = "tool_calls") -> bytes:
    return b"".join(
        [
            chunk(choice({"role": "assistant", "content": "Hm."})),
            *chunks,
            chunk(choice({}, reason)),
            DONE,
        ]
    )


def named(payload: Any) -> bytes:
    return sse(payload, payload["type"])


def block(content: Any, *deltas: Any, index: int = 0) -> bytes:
    return b"".join(
        [
            named({"type": "content_block_start", "index": index, "content_block": content}),
            *(
                named({"type": "content_block_delta", "index": index, "delta": delta})
                for delta in deltas
            ),
            named({"type": "content_block_stop", "index": index}),
        ]
    )


def messages(*events: bytes, start: Any = MESSAGE, reason: str = "tool_use") -> bytes:
    return b"".join(
        [
            named({"type": "message_start", "message": {**start, "usage": USAGE}}),
            *events,
            named({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": USAGE}),
            named({"type": "message_stop"}),
        ]
    )


def event(kind: str, **members: Any) -> bytes:
    return named({"type": f"response.{kind}", "sequence_number": 0, **members})


def added(item: Any, index: int = 0) -> bytes:
    return event("output_item.added", output_index=index, item=item)


def done(item: Any, index: int = 0) -> bytes:
    return event("output_item.done", output_index=index, item=item)


def responses(
    *events: bytes, output: Any = (), begun: Any = (), ending: str = "completed"
) -> bytes:
    created = {**RESPONSE, "status": "in_progress", "output": list(begun)}
    return b"".join(
        [
            event("created", response=created),
            *events,
            event(ending, response={**RESPONSE, "output": list(output)}),
        ]
    )


def raw_of(body: Any) -> bytes:
    return body if isinstance(body, bytes) else json.dumps(body).encode()
