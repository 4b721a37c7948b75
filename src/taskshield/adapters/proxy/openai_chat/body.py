"""OpenAI chat completions, for a proxy.

A call in the deprecated `function_call` is checked like any other. Where several choices were asked
for, each is a message of its own, and there are no feedback rounds: no model continues several.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from taskshield.adapters.conversations import openai_chat
from taskshield.adapters.parsing.json_reader import Field
from taskshield.adapters.proxy.exchange import Body, Place, Reply, Request
from taskshield.adapters.proxy.feedback_rounds import answer
from taskshield.adapters.proxy.json_edits import without
from taskshield.adapters.proxy.openai_chat.members import (
    CALLED,
    check_call,
    check_content,
    with_more,
)
from taskshield.adapters.proxy.openai_chat.outlet import ChatOutlet
from taskshield.adapters.proxy.openai_chat.stream import ChatAssembly
from taskshield.adapters.proxy.output_edits import rewritten, with_texts
from taskshield.adapters.proxy.stream_gate import Gate
from taskshield.adapters.proxy.strict_json import check_members
from taskshield.core.errors import ConversationError
from taskshield.core.levels import Level
from taskshield.core.messages import Message


def read_request(body: object) -> Request:
    """Read a client's request."""
    request = Field(value=body, key="request")
    streams = request["stream"].flag() is True
    conversation, numbers = openai_chat.parse_with_numbers(body)
    places = tuple(
        ("messages", number) if message.level is Level.TOOL and number is not None else None
        for message, number in zip(conversation.messages, numbers, strict=True)
    )
    return Request(conversation=conversation, places=places, streams=streams)


def with_outputs(body: Body, texts: Mapping[Place, str]) -> Body:
    """The request with other texts for some tool outputs, and all else the same."""
    return with_texts(body, read_request(body), texts, _with_output)


def read_response(body: object) -> Reply:
    """Read a model's answer."""
    response = Field(value=body, key="response")
    check_members(response, "choices")
    # Whatever role the provider names, this is the assistant.
    turns = [{**_message(choice), "role": "assistant"} for choice in response["choices"].elements()]
    if not response["choices"].given:
        raise response["choices"].wrong("a list")
    return Reply(
        id=response["id"].text_or("") or None,
        messages=openai_chat.parse(turns).messages,
    )


def without_calls(body: Body, refused: Collection[str], note: str) -> Body:
    """The answer without the calls of these ids, and with a note that says why."""
    choices = zip(body["choices"], read_response(body).messages, strict=True)
    return {**body, "choices": [_without(choice, read, refused, note) for choice, read in choices]}


def with_feedback(body: Body, response: Body, refused: Collection[str], feedback: str) -> Body:
    """The next request of a feedback round.

    Raises:
        ConversationError: The answer has several choices.
    """
    messages = read_response(response).messages
    if len(messages) != 1:
        raise ConversationError("there are feedback rounds only for answers with one choice")
    message = response["choices"][0]["message"]
    turn = {key: value for key, value in message.items() if value not in (None, [])}
    results: list[Body] = []
    calls: list[Body] = []
    for id, call in zip(_ids(messages[0]), _calls(message), strict=True):
        text = answer(id, refused, feedback)
        if call is message.get("function_call"):
            results.append({"role": "function", "name": call["name"], "content": text})
        else:
            results.append({"role": "tool", "tool_call_id": id, "content": text})
            calls.append({**call, "id": id})
    if calls:
        turn["tool_calls"] = calls
    if not any(id in refused for id in _ids(messages[0])):
        results.append({"role": "user", "content": feedback})
    turn = {"content": None, **turn, "role": "assistant"}
    return {**body, "messages": [*body["messages"], turn, *results]}


def gate() -> Gate:
    """The gate for a streamed answer to one request, over all its rounds."""
    return Gate(assembly=ChatAssembly, outlet=ChatOutlet(), read=read_response)


def _message(choice: Field) -> Mapping[str, object]:
    """The message of a choice, which may hold calls in their own place only."""
    check_members(choice, "message", "delta")
    message = choice["message"]
    check_members(message, "content", *CALLED)
    check_content(message["content"])
    for call in message["tool_calls"].elements():
        check_call(call)
    if message["function_call"].given:
        check_members(message["function_call"], "arguments")
    if choice["delta"].given and any(without(dict(choice["delta"].mapping()), "role").values()):
        raise choice["delta"].refused("an answer in one piece has none")
    return message.mapping()


def _with_output(old: str, new: str, message: Body) -> Body:
    return {**message, "content": rewritten(message.get("content"), old, new, _part)}


def _part(text: str) -> Body:
    return {"type": "text", "text": text}


def _without(choice: Body, read: Message, refused: Collection[str], note: str) -> Body:
    ids = _ids(read)
    if refused and not any(id in refused for id in ids):
        return choice
    message = choice["message"]
    kept = [call for id, call in zip(ids, _calls(message), strict=True) if id not in refused]
    reduced = without(message, *CALLED)
    for call in kept:
        if call is message.get("function_call"):
            reduced["function_call"] = call
        else:
            reduced["tool_calls"] = [*reduced.get("tool_calls", ()), call]
    reduced["content"] = with_more(message.get("content"), note)
    reason = choice.get("finish_reason")
    ended = {} if kept or reason not in CALLED else {"finish_reason": "stop"}
    return {**choice, **ended, "message": reduced}


def _ids(read: Message) -> list[str]:
    return [call.id for call in read.tool_calls]


def _calls(message: Body) -> Iterator[Any]:
    """The calls in the order in which they are read."""
    yield from message.get("tool_calls") or ()
    if message.get("function_call") is not None:
        yield message["function_call"]
