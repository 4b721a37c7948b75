"""The providers' own SDKs as readers of a stream: what they make of it, if they accept it."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import anthropic
import httpx2
import openai

from taskshield.adapters.proxy.anthropic import body as anthropic_format
from taskshield.adapters.proxy.openai_chat import body as chat_format
from taskshield.adapters.proxy.openai_responses import body as responses_format
from taskshield.adapters.proxy.sse import Splitter
from taskshield.adapters.proxy.stream_gate import Gate
from taskshield.adapters.proxy.wire_format import WireFormat
from tests.adapters.proxy.streams import Call, Said, anthropic_stream, chat_stream, responses_stream


@dataclass(frozen=True)
class Seen:
    """What a client has read in the end."""

    texts: tuple[str, ...]
    calls: tuple[Call, ...]
    finish: str | None
    tokens: tuple[int, int]
    id: str

    @property
    def text(self) -> str:
        return "\n\n".join(self.texts)


@dataclass(frozen=True)
class Bench:
    """One wire format with all that its tests need."""

    name: str
    wire_format: WireFormat
    stream: Callable[[Said], list[bytes]]
    seen: Callable[[bytes], Seen]
    request: dict[str, Any]
    finished: str
    """How an answer without calls ends."""
    called: str
    """How an answer with calls ends."""
    last: bytes
    """From here on a stream may be complete."""


def transport(data: bytes, kind: str = "text/event-stream") -> httpx2.MockTransport:
    headers = {"content-type": kind}
    return httpx2.MockTransport(lambda _: httpx2.Response(200, headers=headers, content=data))


def openai_client(data: bytes) -> openai.OpenAI:
    client = httpx2.Client(transport=transport(data))
    return openai.OpenAI(api_key="k", http_client=client, max_retries=0)


def anthropic_client(data: bytes) -> anthropic.Anthropic:
    client = httpx2.Client(transport=transport(data))
    return anthropic.Anthropic(api_key="k", http_client=client, max_retries=0)


def apart(texts: Iterable[str]) -> tuple[str, ...]:
    """Texts that clients join, without the gaps that keep them apart."""
    return tuple(text.removeprefix("\n\n") for text in texts if text != "\n\n")


def payloads(data: bytes) -> list[dict[str, Any]]:
    """All events but the mark at the end."""
    splitter = Splitter()
    events = [*splitter.feed(data), *splitter.close()]
    return [json.loads(event.data) for event in events if event.data and not event.done]


def seen_in_chat(data: bytes) -> Seen:
    check_chat(data)
    messages: list[Any] = [{"role": "user", "content": "go"}]
    with openai_client(data) as client:
        with client.chat.completions.stream(model="m", messages=messages) as stream:
            completion = stream.get_final_completion()
    choice, usage = completion.choices[0], completion.usage
    calls = [
        Call(each.id, each.function.name, each.function.arguments)
        for each in choice.message.tool_calls or ()
    ]
    assert usage is not None
    content = choice.message.content
    return Seen(
        texts=tuple(content.split("\n\n")) if content else (),
        calls=tuple(calls),
        finish=choice.finish_reason,
        tokens=(usage.prompt_tokens, usage.completion_tokens),
        id=completion.id,
    )


def check_chat(data: bytes) -> None:
    """One id, one role and one reason to stop; calls counted from 0, each begun with its id."""
    chunks = payloads(data)
    assert len({(chunk["id"], chunk["created"]) for chunk in chunks}) == 1
    choices = [choice for chunk in chunks for choice in chunk["choices"]]
    assert [c["delta"]["role"] for c in choices if "role" in c["delta"]] == ["assistant"]
    assert "role" in choices[0]["delta"]
    assert [bool(choice["finish_reason"]) for choice in choices].index(True) == len(choices) - 1
    begun: list[int] = []
    for choice in choices:
        for call in choice["delta"].get("tool_calls") or ():
            if call.get("id"):
                begun.append(call["index"])
            assert call["index"] == begun[-1]
    assert begun == list(range(len(begun)))
    assert data.endswith(b"data: [DONE]\n\n")


def seen_in_anthropic(data: bytes) -> Seen:
    check_anthropic(data)
    with anthropic_client(data) as client:
        messages: list[Any] = [{"role": "user", "content": "go"}]
        with client.messages.stream(model="m", max_tokens=9, messages=messages) as stream:
            message = stream.get_final_message()
    blocks = message.content
    return Seen(
        texts=apart(block.text for block in blocks if block.type == "text"),
        calls=tuple(
            Call(block.id, block.name, json.dumps(block.input))
            for block in blocks
            if block.type == "tool_use"
        ),
        finish=message.stop_reason,
        tokens=(message.usage.input_tokens, message.usage.output_tokens),
        id=message.id,
    )


def check_anthropic(data: bytes) -> None:
    """One beginning, blocks one after the other counted from 0, one ending."""
    events = [event for event in payloads(data) if event["type"] != "ping"]
    kinds = [event["type"] for event in events]
    assert kinds[0] == "message_start" and kinds[-2:] == ["message_delta", "message_stop"]
    assert kinds.count("message_start") == kinds.count("message_delta") == 1
    number, opened = 0, False
    for event in events[1:-2]:
        assert event["index"] == number
        assert opened is (event["type"] != "content_block_start")
        opened = event["type"] != "content_block_stop"
        number += not opened
    assert not opened


def seen_in_responses(data: bytes) -> Seen:
    check_responses(data)
    with openai_client(data) as client:
        with client.responses.stream(model="m", input="go") as stream:
            response = stream.get_final_response()
    calls = [
        Call(item.call_id, item.name, item.arguments)
        for item in response.output
        if item.type == "function_call"
    ]
    assert response.usage is not None
    return Seen(
        texts=apart(
            part.text
            for item in response.output
            if item.type == "message"
            for part in item.content
            if part.type == "output_text"
        ),
        calls=tuple(calls),
        finish=response.status,
        tokens=(response.usage.input_tokens, response.usage.output_tokens),
        id=response.id,
    )


def check_responses(data: bytes) -> None:
    """Sequence numbers rise, items are begun once and in order, and the end lists just them."""
    events = payloads(data)
    numbers = [event["sequence_number"] for event in events]
    assert numbers == list(range(len(numbers)))
    kinds = [event["type"] for event in events]
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert kinds.count("response.created") == kinds.count("response.in_progress") == 1
    assert kinds[-1] == "response.completed" and kinds.count("response.completed") == 1
    begun: list[Any] = []
    done: dict[int, Any] = {}
    for event in events[2:-1]:
        if event["type"] == "response.output_item.added":
            assert event["output_index"] == len(begun)
            begun.append(event["item"]["id"])
        assert event["output_index"] == len(begun) - 1
        if "item_id" in event:
            assert event["item_id"] == begun[-1]
        if event["type"] == "response.output_item.done":
            done[event["output_index"]] = event["item"]
    final = events[-1]["response"]
    assert final["id"] == events[0]["response"]["id"]
    assert final["output"] == [done[number] for number in range(len(begun))]


BENCHES = [
    Bench(
        name="chat",
        wire_format=chat_format,
        stream=chat_stream,
        seen=seen_in_chat,
        request={"model": "m", "messages": [{"role": "user", "content": "go"}], "x": 1},
        finished="stop",
        called="tool_calls",
        last=b'"finish_reason": "tool_calls"',
    ),
    Bench(
        name="anthropic",
        wire_format=anthropic_format,
        stream=anthropic_stream,
        seen=seen_in_anthropic,
        request={"model": "m", "messages": [{"role": "user", "content": "go"}], "x": 1},
        finished="end_turn",
        called="tool_use",
        last=b"event: message_stop",
    ),
    Bench(
        name="responses",
        wire_format=responses_format,
        stream=responses_stream,
        seen=seen_in_responses,
        request={"model": "m", "input": "go", "x": 1},
        finished="completed",
        called="completed",
        last=b"event: response.completed",
    ),
]


def sending(gate: Gate, chunks: Sequence[bytes]) -> Iterator[bytes]:
    """What the client gets while the provider sends these chunks and then closes."""
    splitter = Splitter()
    for chunk in chunks:
        for event in splitter.feed(chunk):
            yield from gate.feed(event)
    for event in splitter.close():
        yield from gate.feed(event)
    gate.close()


def fed(gate: Gate, chunks: Sequence[bytes]) -> bytes:
    return b"".join(sending(gate, chunks))
