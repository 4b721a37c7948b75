"""A provider with scripted answers: chat completions, as JSON and as a stream.

It answers with the next message of the conversation. The model's name sets the delay before the
first word: "scripted-200" waits 200 milliseconds, "scripted-0" does not wait. It is an ASGI app
without a framework, so that it uses little processor time.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

from mail_conversations import Body, conversation, number_in

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

_WORD = re.compile(r"\S+\s*")


def model(delay_ms: int) -> str:
    """The name of the model with this delay."""
    return f"scripted-{delay_ms}"


async def app(scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
    """Answer a chat completion. Any other request gets an empty object."""
    content, more = b"", True
    while more:
        message = await receive()
        content += message.get("body", b"")
        more = message.get("more_body", False)
    if scope["method"] != "POST":
        await _send(send, "application/json", [b"{}"])
        return
    body = json.loads(content)
    await asyncio.sleep(int(body["model"].rpartition("-")[2]) / 1000)
    reply = next_message(body["messages"])
    if body.get("stream"):
        await _send(send, "text/event-stream", events(body, reply))
    else:
        await _send(send, "application/json", [json.dumps(whole(body, reply)).encode()])


def next_message(messages: list[Body]) -> Body:
    """The agent's next message."""
    known = [message for message in messages if message["role"] != "system"]
    return conversation(number_in(messages))[len(known)]


def whole(request: Body, reply: Body) -> Body:
    """The answer as JSON."""
    choice = {"index": 0, "message": reply, "finish_reason": _reason(reply)}
    usage = {"prompt_tokens": 900, "completion_tokens": 60, "total_tokens": 960}
    return {**_head(request, "chat.completion"), "choices": [choice], "usage": usage}


def events(request: Body, reply: Body) -> Iterator[bytes]:
    """The answer as a stream, word by word."""
    head = _head(request, "chat.completion.chunk")
    for delta, reason in [*((delta, None) for delta in _deltas(reply)), ({}, _reason(reply))]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        yield b"data: %s\n\n" % json.dumps({**head, "choices": [choice]}).encode()
    yield b"data: [DONE]\n\n"


def _deltas(reply: Body) -> Iterator[Body]:
    yield {"role": "assistant", "content": ""}
    for word in _WORD.findall(reply["content"]):
        yield {"content": word}
    for index, call in enumerate(reply.get("tool_calls", ())):
        function = call["function"]
        begun = {**call, "index": index, "function": {**function, "arguments": ""}}
        yield {"tool_calls": [begun]}
        for piece in _WORD.findall(function["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _reason(reply: Body) -> str:
    return "tool_calls" if "tool_calls" in reply else "stop"


def _head(request: Body, kind: str) -> Body:
    number = number_in(request["messages"])
    return {"id": f"chatcmpl-{number}", "object": kind, "created": 0, "model": request["model"]}


async def _send(send: Send, kind: str, chunks: Iterator[bytes] | list[bytes]) -> None:
    headers = [(b"content-type", kind.encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    for chunk in chunks:
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b""})
