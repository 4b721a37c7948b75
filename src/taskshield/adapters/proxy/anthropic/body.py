"""Anthropic messages, for a proxy.

Tools that run at the provider (`server_tool_use`, `mcp_tool_use`) have run when their blocks arrive
and cannot be refused any more: they and their results are unreadable parts of an answer. When the
client sends them back they are read as calls and outputs, so that their text is checked. They
cannot be rewritten: the provider accepts them only as it made them.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import reduce
from typing import Any

from taskshield.adapters.conversations import anthropic_messages
from taskshield.adapters.parsing.json_reader import Field
from taskshield.adapters.proxy.anthropic.blocks import (
    as_call,
    check_block,
    is_call,
    ran_at_provider,
)
from taskshield.adapters.proxy.anthropic.outlet import AnthropicOutlet, text_block
from taskshield.adapters.proxy.anthropic.stream import AnthropicAssembly
from taskshield.adapters.proxy.exchange import Body, Place, Reply, Request
from taskshield.adapters.proxy.feedback_rounds import GAP, answer
from taskshield.adapters.proxy.output_edits import rewritten, with_texts
from taskshield.adapters.proxy.stream_gate import Gate
from taskshield.adapters.proxy.strict_json import check_members
from taskshield.core.messages import Opaque


def read_request(body: object) -> Request:
    """Read a client's request."""
    request = Field(value=body, key="request")
    streams = request["stream"].flag() is True
    conversation, paths = anthropic_messages.parse_with_paths(body)
    places = tuple(None if path is None else _place(body, path) for path in paths)
    return Request(conversation=conversation, places=places, streams=streams)


def with_outputs(body: Body, texts: Mapping[Place, str]) -> Body:
    """The request with other texts for some tool outputs, and all else the same."""
    return with_texts(body, read_request(body), texts, _with_output)


def read_response(body: object) -> Reply:
    """Read a model's answer."""
    response = Field(value=body, key="response")
    check_members(response, "content")
    if not response["content"].given:
        raise response["content"].wrong("a list of blocks")
    read: list[Body] = []
    unreadable: list[Opaque] = []
    for field in response["content"].elements():
        check_block(field)
        block = dict(field.mapping())
        if ran_at_provider(block):
            unreadable.append(Opaque(kind=str(block["type"])))
        else:
            read.append(as_call(block) if is_call(block) else block)
    (message,) = anthropic_messages.parse([{"role": "assistant", "content": read}]).messages
    return Reply(
        id=response["id"].text_or("") or None,
        messages=(replace(message, parts=(*message.parts, *unreadable)),),
    )


def without_calls(body: Body, refused: Collection[str], note: str) -> Body:
    """The answer without the calls of these ids, and with a note that says why."""
    calls = list(_calls(body))
    dropped = {number for number, id in calls if id in refused}
    at = calls[0][0] if calls else len(body["content"])
    content = [block for number, block in enumerate(body["content"]) if number not in dropped]
    ended = {"stop_reason": "end_turn"} if len(dropped) == len(calls) else {}
    if body.get("stop_reason") != "tool_use":
        ended = {}
    if any(block.get("text") for block in content[:at]):
        note = GAP + note  # clients join the texts
    return {**body, **ended, "content": [*content[:at], text_block(note), *content[at:]]}


def with_feedback(body: Body, response: Body, refused: Collection[str], feedback: str) -> Body:
    """The next request of a feedback round."""
    calls = dict(_calls(response))
    sent_back = [
        _sendable(block, calls.get(number))
        for number, block in enumerate(response["content"])
        if block.get("text") != ""  # the provider makes such blocks, but does not accept them
    ]
    results: list[Body] = [
        {
            "type": "tool_result",
            "tool_use_id": id,
            "content": answer(id, refused, feedback),
            "is_error": True,
        }
        for id in calls.values()
    ]
    if not any(id in refused for id in calls.values()):
        results.append(text_block(feedback))
    turns = [{"role": "assistant", "content": sent_back}] if sent_back else []
    messages = [*body["messages"], *turns, {"role": "user", "content": results}]
    return {**body, "messages": messages}


def gate() -> Gate:
    """The gate for a streamed answer to one request, over all its rounds."""
    return Gate(assembly=AnthropicAssembly, outlet=AnthropicOutlet(), read=read_response)


def _place(body: Any, path: Place) -> Place | None:
    """Where an output of a tool stands, if the proxy may rewrite it."""
    block = reduce(lambda value, step: value[step], path, body)
    return path if block["type"] == "tool_result" else None


def _with_output(old: str, new: str, block: Body) -> Body:
    return {**block, "content": rewritten(block.get("content"), old, new, text_block)}


def _calls(response: Body) -> Iterator[tuple[int, str]]:
    """The number of each block that is a call, and the call's id."""
    (message,) = read_response(response).messages
    blocks = (number for number, block in enumerate(response["content"]) if is_call(block))
    return zip(blocks, (call.id for call in message.tool_calls), strict=True)


def _sendable(block: Body, call_id: str | None) -> Body:
    """A block of an answer as a block of a request."""
    if call_id is None:
        return block
    given = block.get("input")
    # Input that ends within its JSON was read as text; a request needs an object.
    return {**block, "id": call_id, "input": given if isinstance(given, dict) else {}}
