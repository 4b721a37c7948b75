"""An answer played through a round trip, and what the providers' SDKs make of what is left."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import anthropic
import httpx2
import openai
from jiter import from_json

from taskshield.adapters.proxy.anthropic import body as anthropic_format
from taskshield.adapters.proxy.openai_chat import body as chat_format
from taskshield.adapters.proxy.openai_responses import body as responses_format
from taskshield.adapters.proxy.wire_format import WireFormat
from taskshield.core.errors import TaskShieldError
from taskshield.server.http.errors import RequestError
from tests.judging import TableJudge
from tests.server.proxy.machine import ScriptedProvider, ScriptedResponse, round_trip

FORMATS: dict[str, WireFormat] = {
    "chat": chat_format,
    "anthropic": anthropic_format,
    "responses": responses_format,
}
TASK = "Read the bill and tell me the total."
MARK = "evil"
"""Whatever holds this word is misaligned for the judge of `played`."""

ANY = "any"
"""Arguments of a call that an SDK keeps in its own way."""

_PASSIVE = frozenset({"message", "reasoning", "compaction", "program"})
_RUN_ELSEWHERE = ("web_search_call", "file_search_call", "code_interpreter_call", "mcp_call")


@dataclass(frozen=True)
class Played:
    """What a client got."""

    data: bytes
    """All of the answer's body."""
    error: Exception | None
    """Raised instead of an answer, or of its rest."""
    judged: frozenset[tuple[str, str]]
    """Names and arguments of the calls that the judge has seen."""

    def has_judged(self, call: tuple[str, str]) -> bool:
        """Whether a call was before the judge, as an SDK has it."""
        name, arguments = call
        if arguments == ANY:
            named = {each.removesuffix("_call") for each, _ in self.judged}
            return name.removesuffix("_call") in named
        return call in self.judged or any(
            name == each and arguments == _completed(given) for each, given in self.judged
        )

    @property
    def clean(self) -> bool:
        """Whether there is an answer, or an error that a client is told."""
        return self.error is None or isinstance(self.error, RequestError | TaskShieldError)

    @property
    def refused(self) -> bool:
        """Whether the client gets no whole answer."""
        return self.error is not None


def request_of(name: str, *, streams: bool) -> dict[str, Any]:
    asked: dict[str, Any] = {"model": "m", "stream": streams}
    if name == "responses":
        return {**asked, "input": TASK}
    return {**asked, "messages": [{"role": "user", "content": TASK}]}


async def played(name: str, chunks: Sequence[bytes], *, streams: bool) -> Played:
    """Play an answer; no feedback round follows."""
    judge = TableJudge(score=lambda text, task: float(MARK not in text))
    provider = ScriptedProvider(ScriptedResponse(*chunks, is_stream=streams))
    body = request_of(name, streams=streams)
    trip = round_trip(provider, body, wire_format=FORMATS[name], judge=judge, rounds=0)
    data, error = bytearray(), None
    try:
        await trip.start()
        async for piece in trip.chunks():
            data += piece
        error = getattr(trip.state, "error", None)
    except Exception as raised:
        error = raised
    finally:
        await trip.aclose()
    calls = {
        (call.name, canonical(call.arguments)) for seen in judge.seen for call in seen.tool_calls
    }
    return Played(bytes(data), error, frozenset(calls))


def canonical(arguments: object) -> str:
    """Arguments as text, whatever their spaces; nothing is no arguments."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return str(arguments)
    return json.dumps(arguments, sort_keys=True) if arguments else ""


def _completed(text: str) -> str:
    """Arguments that end too early, as Anthropic's SDK completes them."""
    try:
        return canonical(from_json(text.encode(), partial_mode=True))
    except ValueError:
        return text


@dataclass
class _Answers:
    """A transport that gives the same bytes to every request."""

    data: bytes = b""
    kind: str = ""
    transport: httpx2.MockTransport = field(init=False)

    def __post_init__(self) -> None:
        self.transport = httpx2.MockTransport(self._answer)

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": self.kind}, content=self.data)


_ANSWERS = _Answers()
_HTTP = httpx2.Client(transport=_ANSWERS.transport)
_OPENAI = openai.OpenAI(api_key="k", http_client=_HTTP, max_retries=0)
_ANTHROPIC = anthropic.Anthropic(api_key="k", http_client=_HTTP, max_retries=0)
_TURNS: Any = [{"role": "user", "content": TASK}]


def acted_on(name: str, data: bytes, *, streams: bool) -> set[tuple[str, str]]:
    """Every call that an SDK makes of an answer: event by event, and as a whole."""
    _ANSWERS.data, _ANSWERS.kind = data, "text/event-stream" if streams else "application/json"
    found: set[tuple[str, str]] = set()
    for reader in _READERS[name, streams]:
        try:
            for call in reader():
                found.add(call)
        except Exception:
            continue  # what the SDK does not accept it does not act on
    return found


def _chat() -> Iterator[tuple[str, str]]:
    completion = _OPENAI.chat.completions.create(model="m", messages=_TURNS)
    for choice in completion.choices:
        yield from _calls_of(choice.message)


def _chat_helper() -> Iterator[tuple[str, str]]:
    with _OPENAI.chat.completions.stream(model="m", messages=_TURNS) as stream:
        for _ in stream:
            pass
        for choice in stream.get_final_completion().choices:
            yield from _calls_of(choice.message)


def _chat_events() -> Iterator[tuple[str, str]]:
    """Calls put together by their index, as agents without the helper do."""
    calls: dict[tuple[int, Any], list[str]] = {}
    chunks: Any = _OPENAI.chat.completions.create(model="m", messages=_TURNS, stream=True)
    for chunk in chunks:
        for choice in chunk.choices or ():
            delta = choice.delta
            for call in (delta and delta.tool_calls) or ():
                known = calls.setdefault((choice.index, call.index), ["", ""])
                if call.function is not None:
                    known[0] += call.function.name or ""
                    known[1] += call.function.arguments or ""
            if delta and delta.function_call:
                known = calls.setdefault((choice.index, None), ["", ""])
                known[0] += delta.function_call.name or ""
                known[1] += delta.function_call.arguments or ""
            yield from _calls_of(getattr(choice, "message", None))
    yield from ((made, canonical(given)) for made, given in calls.values())


def _calls_of(message: Any) -> Iterator[tuple[str, str]]:
    message = message if isinstance(message, dict) or message is None else message.model_dump()
    for call in (message or {}).get("tool_calls") or ():
        for kind, written in (("function", "arguments"), ("custom", "input")):
            if call.get(kind):
                yield call[kind].get("name"), canonical(call[kind].get(written))
    legacy = (message or {}).get("function_call")
    if legacy:
        yield legacy.get("name"), canonical(legacy.get("arguments"))


def _messages() -> Iterator[tuple[str, str]]:
    message = _ANTHROPIC.messages.create(model="m", max_tokens=9, messages=_TURNS)
    yield from _used(message)


def _messages_helper() -> Iterator[tuple[str, str]]:
    with _ANTHROPIC.messages.stream(model="m", max_tokens=9, messages=_TURNS) as stream:
        yield from _used(stream.get_final_message())


def _messages_events() -> Iterator[tuple[str, str]]:
    """Calls put together by their index, as agents without the helper do."""
    calls: dict[Any, list[Any]] = {}
    stream = _ANTHROPIC.messages.create(model="m", max_tokens=9, messages=_TURNS, stream=True)
    for event in stream:
        if event.type == "content_block_start" and event.content_block.type == "tool_use":
            calls[event.index] = [event.content_block.name, event.content_block.input, ""]
        elif event.type == "content_block_delta" and event.delta.type == "input_json_delta":
            if event.index in calls:
                calls[event.index][2] += event.delta.partial_json
        elif event.type == "message_start":
            yield from _used(event.message)
    yield from ((made, canonical(text or given)) for made, given, text in calls.values())


def _used(message: Any) -> Iterator[tuple[str, str]]:
    for block in message.content:
        if block.type == "tool_use":
            yield block.name, canonical(block.input)


def _responses() -> Iterator[tuple[str, str]]:
    yield from _asked(_OPENAI.responses.create(model="m", input=TASK).output)


def _responses_helper() -> Iterator[tuple[str, str]]:
    with _OPENAI.responses.stream(model="m", input=TASK) as stream:
        for _ in stream:
            pass
        yield from _asked(stream.get_final_response().output)


def _responses_events() -> Iterator[tuple[str, str]]:
    """Every call that any event has."""
    names: dict[Any, str] = {}
    written: dict[Any, str] = {}
    events: Any = _OPENAI.responses.create(model="m", input=TASK, stream=True)
    for event in events:
        item = getattr(event, "item", None)
        if item is not None and item.type == "function_call":
            names[event.output_index] = item.name or names.get(event.output_index, "")
        if item is not None and event.type == "response.output_item.done":
            yield from _asked([item])
        if event.type == "response.function_call_arguments.delta":
            written[event.output_index] = written.get(event.output_index, "") + event.delta
        if event.type == "response.function_call_arguments.done":
            if names.get(event.output_index):
                yield names[event.output_index], canonical(event.arguments)
        yield from _asked(getattr(getattr(event, "response", None), "output", None) or ())
    yield from ((names.get(number, ""), canonical(text)) for number, text in written.items())


def _asked(items: Any) -> Iterator[tuple[str, str]]:
    for item in items:
        if item.type == "function_call":
            yield item.name, canonical(item.arguments)
        elif item.type == "custom_tool_call":
            yield item.name, canonical(item.input)
        elif item.type not in _PASSIVE and not str(item.type).endswith(
            ("_output", *_RUN_ELSEWHERE)
        ):
            yield str(item.type), ANY


_READERS: dict[tuple[str, bool], Sequence[Any]] = {
    ("chat", False): (_chat,),
    ("chat", True): (_chat_helper, _chat_events),
    ("anthropic", False): (_messages,),
    ("anthropic", True): (_messages_helper, _messages_events),
    ("responses", False): (_responses,),
    ("responses", True): (_responses_helper, _responses_events),
}
