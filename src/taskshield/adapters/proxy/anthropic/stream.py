"""Anthropic messages as a stream.

Over several rounds the client sees the `message_start` of the first round, all blocks that passed,
and at the end the sum of usage.
"""

from collections.abc import Hashable, Sequence

from taskshield.adapters.parsing.json_reader import Field
from taskshield.adapters.proxy.anthropic.blocks import is_call
from taskshield.adapters.proxy.exchange import Body
from taskshield.adapters.proxy.index_map import Numbering
from taskshield.adapters.proxy.json_edits import assembled, index_of
from taskshield.adapters.proxy.stream_gate import Disposition, Payload
from taskshield.adapters.proxy.usage import added
from taskshield.core.errors import WireFormatError
from taskshield.core.json_limits import read_json


def text_block(text: str) -> Body:
    """A block of text."""
    return {"type": "text", "text": text}


class AnthropicAssembly:
    """The events of one stream as one answer."""

    def __init__(self) -> None:
        self._message: Body = {}
        self._blocks: dict[int, list[Body]] = {}
        self._inputs: dict[int, list[str]] = {}

    def add(self, payload: Payload) -> tuple[Disposition, Payload]:
        """What to do with an event."""
        return "buffer" if payload is None else self._disposition(payload), payload

    def is_complete(self) -> bool:
        """A message in this format always says that it is complete."""
        return False

    def response(self) -> Body:
        """The answer as it would be without streaming."""
        blocks = [self._block(number) for number in sorted(self._blocks)]
        return {**self._message, "content": blocks}

    def calls(self) -> Sequence[Hashable]:
        """The number of the block of each call."""
        return [n for n in sorted(self._blocks) if is_call(self._blocks[n][0]["type"])]

    def _disposition(self, payload: Body) -> Disposition:
        event = Field(value=payload, key="event")
        match event["type"].text_or(""):
            case "ping":
                return "keep_alive"
            case "error":
                return "error"
            case "message_start":
                self._message = dict(event["message"].mapping())
                self._message["usage"] = _members(event["message"]["usage"])
            case "content_block_start":
                return self._started(event)
            case "content_block_delta":
                self._grown(event)
            case "message_delta":
                self._ended(event)
                return "buffer"
            case "message_stop":
                return "end"
        return "pass"

    def _started(self, event: Field) -> Disposition:
        number = index_of(event["index"])
        if number in self._blocks:
            raise event["index"].refused("two blocks have this number")
        kind = event["content_block"]["type"].text()
        self._blocks[number] = [dict(event["content_block"].mapping())]
        return "buffer" if is_call(kind) else "pass"

    def _grown(self, event: Field) -> None:
        number = index_of(event["index"])
        if number not in self._blocks:
            raise event["index"].refused("no block with this number has begun")
        delta = dict(event["delta"].mapping())
        match delta.pop("type", None):
            case "input_json_delta":
                piece = event["delta"]["partial_json"].text_or("")
                self._inputs.setdefault(number, []).append(piece)
            case "citations_delta":
                self._blocks[number].append({"citations": [delta.get("citation")]})
            case _:
                self._blocks[number].append(delta)

    def _ended(self, event: Field) -> None:
        counted = {k: v for k, v in _members(event["usage"]).items() if v is not None}
        usage = {**self._message.get("usage", {}), **counted}
        self._message = {**self._message, **_members(event["delta"]), "usage": usage}

    def _block(self, number: int) -> Body:
        block: Body = assembled(self._blocks[number])
        written = "".join(self._inputs.get(number, ()))
        return {**block, "input": _parsed(written)} if written else block


class AnthropicOutlet:
    """The events that the client sees."""

    def __init__(self) -> None:
        self._started = False
        self._numbers = Numbering()
        self._earlier_usage: object = None
        self._begun_with: Body = {}

    def note_passed(self, payload: Payload) -> None:
        """Take note of an event that is passed to the client as it is."""
        if payload is None:
            return
        self._started = self._started or payload.get("type") == "message_start"
        number = _number(payload)
        if number is not None:
            self._numbers.keep(number)

    def renumber(self, payload: Body) -> list[Body]:
        """An event in the client's numbering; empty where the client has no use for it."""
        number = _number(payload)
        if number is not None:
            return [{**payload, "index": self._numbers.of(number)}]
        match payload.get("type"):
            case "message_start" if self._started:
                self._begun_with = payload["message"].get("usage") or {}
                return []
            case "message_start":
                self._started = True
            case "message_delta" if self._earlier_usage is not None:
                this = {**self._begun_with, **(payload.get("usage") or {})}
                return [{**payload, "usage": added(self._earlier_usage, this)}]
        return [payload]

    def without_calls(
        self, buffered: Sequence[Payload], dropped: set[Hashable], kept: set[Hashable], note: str
    ) -> list[Payload]:
        """The buffered events without the dropped calls, after a block with the note."""
        revised: list[Payload] = [*self._note(note)]
        for payload in buffered:
            if payload is None:
                revised.append(None)
            elif _number(payload) not in dropped:
                revised += self.renumber(payload if kept else _without_reason(payload))
        return revised

    def continues_passed(self, payload: Payload) -> bool:
        """Whether an event belongs to a block that the client has seen begin."""
        return payload is not None and _number(payload) in self._numbers

    def start_round(self, usage: object) -> None:
        """Another provider stream begins."""
        self._earlier_usage = usage
        self._begun_with = {}
        self._numbers.start_round()

    def failure_event(self, message: str) -> Body:
        """An error as Anthropic sends it in the middle of a stream; its SDK raises it."""
        return {"type": "error", "error": {"type": "api_error", "message": message}}

    def _note(self, note: str) -> list[Body]:
        number = self._numbers.new()
        delta = {"type": "text_delta", "text": note}
        return [
            {"type": "content_block_start", "index": number, "content_block": text_block("")},
            {"type": "content_block_delta", "index": number, "delta": delta},
            {"type": "content_block_stop", "index": number},
        ]


def _members(field: Field) -> Body:
    return dict(field.mapping()) if field.given else {}


def _number(payload: Body) -> int | None:
    """The number of the block that an event belongs to, if it belongs to one."""
    number = payload.get("index")
    return number if isinstance(number, int) else None


def _without_reason(payload: Body) -> Body:
    """An ending that does not promise calls."""
    delta = payload.get("delta") or {}
    if payload.get("type") != "message_delta" or delta.get("stop_reason") != "tool_use":
        return payload
    return {**payload, "delta": {**delta, "stop_reason": "end_turn"}}


def _parsed(written: str) -> object:
    """A call's input as the object that it is without streaming, or the text where it is none."""
    try:
        value = read_json(written, strict=False)
    except WireFormatError:
        return written
    return value if isinstance(value, dict) else written
