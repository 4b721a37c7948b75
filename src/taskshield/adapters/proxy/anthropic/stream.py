"""Anthropic messages as a stream.

Blocks are numbered from 0 in the order in which they begin, because clients find them by their
place.

Over several rounds the client sees the `message_start` of the first round, all blocks that passed,
and at the end the sum of usage.
"""

from collections.abc import Hashable, Mapping, Sequence

from taskshield.adapters.parsing.json_reader import Field
from taskshield.adapters.proxy.anthropic.blocks import PROVIDER_RUN, check_block, is_call
from taskshield.adapters.proxy.exchange import Body
from taskshield.adapters.proxy.feedback_rounds import GAP
from taskshield.adapters.proxy.index_map import Numbering
from taskshield.adapters.proxy.json_edits import assembled, index_of
from taskshield.adapters.proxy.stream_gate import Disposition, Payload
from taskshield.adapters.proxy.strict_json import check_members, is_misspelled, object_of
from taskshield.adapters.proxy.usage import added
from taskshield.core.errors import WireFormatError


def text_block(text: str) -> Body:
    """A block of text."""
    return {"type": "text", "text": text}


_PLACES = {
    "message_start": ("message",),
    "content_block_start": ("content_block",),
    "content_block_delta": ("delta",),
    "content_block_stop": (),
    "message_delta": ("delta",),
    "message_stop": (),
    "ping": (),
    "error": (),
}
"""Types of events, and where they have parts of the answer."""
_OF_BLOCKS = frozenset({"content_block_start", "content_block_delta", "content_block_stop"})
_GROWN: Mapping[str, tuple[str, ...]] = {
    "citations_delta": (),
    "compaction_delta": ("content", "encrypted_content"),
    "input_json_delta": ("partial_json",),
    "signature_delta": ("signature",),
    "text_delta": ("text",),
    "thinking_delta": ("thinking",),
}
"""Types of deltas, and the members of a block that grow by them."""


class AnthropicAssembly:
    """The events of one stream as one answer."""

    def __init__(self) -> None:
        self._message: Body | None = None
        self._blocks: list[_Block] = []
        self._numbers: dict[int, int] = {}

    def add(self, payload: Payload) -> tuple[Disposition, Payload]:
        """What to do with an event, and the event with its block under a number of its own."""
        if payload is None:
            return "buffer", None
        event = Field(value=payload, key="event")
        kind = event["type"].text()
        if is_misspelled(kind, _PLACES):
            raise event["type"].refused("a known type in another spelling")
        check_members(event, *_PLACES.get(kind, ()))
        disposition = self._disposition(kind, event)
        if kind == "error":
            return disposition, {"type": "error", "error": payload.get("error")}
        if kind not in _OF_BLOCKS:
            return disposition, payload
        number = self._numbers[index_of(event["index"])]
        same = number == payload["index"]
        return disposition, payload if same else {**payload, "index": number}

    def is_complete(self) -> bool:
        """A message in this format always says that it is complete."""
        return False

    def response(self) -> Body:
        """The answer as it would be without streaming."""
        return {**(self._message or {}), "content": [block.whole() for block in self._blocks]}

    def calls(self) -> Sequence[Hashable]:
        """The number of the block of each call."""
        return [number for number, block in enumerate(self._blocks) if block.is_call]

    def _disposition(self, kind: str, event: Field) -> Disposition:
        if kind in ("ping", "error"):
            return "keep_alive" if kind == "ping" else "error"
        if kind == "message_start":
            self._begin(event)
            return "pass"
        if kind in _PLACES and self._message is None:
            raise event["type"].refused("the message has not begun")
        match kind:
            case "content_block_start":
                return self._started(event)
            case "content_block_delta":
                self._block(event).grow(event["delta"])
            case "content_block_stop":
                self._block(event)
            case "message_delta":
                check_members(event["delta"])
                self._ended(event)
                return "buffer"
            case "message_stop":
                return "end"
        return "pass"

    def _begin(self, event: Field) -> None:
        if self._message is not None:
            raise event["type"].refused("the message has begun already")
        message = event["message"]
        check_members(message, "content")
        if any(True for _ in message["content"].elements()):
            raise message["content"].refused("a message begins without content")
        self._message = {**message.mapping(), "usage": _members(message["usage"])}

    def _started(self, event: Field) -> Disposition:
        index = index_of(event["index"])
        if index in self._numbers:
            raise event["index"].refused("two blocks have this number")
        check_block(event["content_block"])
        block = _Block(dict(event["content_block"].mapping()))
        self._numbers[index] = len(self._blocks)
        self._blocks.append(block)
        return "buffer" if block.is_call else "pass"

    def _block(self, event: Field) -> "_Block":
        index = index_of(event["index"])
        if index not in self._numbers:
            raise event["index"].refused("no block with this number has begun")
        return self._blocks[self._numbers[index]]

    def _ended(self, event: Field) -> None:
        message = self._message or {}
        counted = {k: v for k, v in _members(event["usage"]).items() if v is not None}
        usage = {**message.get("usage", {}), **counted}
        self._message = {**message, **_members(event["delta"]), "usage": usage}


class _Block:
    """One block, as far as it has arrived."""

    def __init__(self, start: Body) -> None:
        self.is_call = is_call(start)
        self._start = start
        self._pieces: list[Body] = [start]
        self._input: list[str] = []

    def grow(self, delta: Field) -> None:
        """Add a piece. A piece adds to one member only, whatever else it holds."""
        kind = delta["type"].text()
        if is_misspelled(kind, _GROWN):
            raise delta["type"].refused("a known type in another spelling")
        grown = _GROWN.get(kind, ())
        check_members(delta, *grown)
        if kind == "input_json_delta":
            self._write(delta)
        elif self.is_call:
            raise delta["type"].refused("a call grows by its input only")
        elif kind == "citations_delta":
            self._pieces.append({"citations": [delta["citation"].value]})
        else:
            new = (key for key in delta.mapping() if key not in ("type", *self._start))
            members = grown if kind in _GROWN else new
            self._pieces += ({member: delta[member].value} for member in members)

    def _write(self, delta: Field) -> None:
        written = delta["partial_json"].text_or("")
        if written and not (self.is_call or self._start["type"] in PROVIDER_RUN):
            raise delta["type"].refused("only a call has an input")
        if written and self._start.get("input"):
            raise delta["type"].refused("this block has begun with another input")
        self._input.append(written)

    def whole(self) -> Body:
        """The block without streaming."""
        block: Body = assembled(self._pieces)
        written = "".join(self._input)
        return {**block, "input": _parsed(written)} if written else block


class AnthropicOutlet:
    """The events that the client sees."""

    def __init__(self) -> None:
        self._started = False
        self._numbers = Numbering()
        self._earlier_usage: object = None
        self._begun_with: Body = {}
        self._with_text = False
        self._needs_gap = False

    def note_passed(self, payload: Payload) -> None:
        """Take note of an event that is passed to the client as it is."""
        if payload is None:
            return
        self._started = self._started or payload.get("type") == "message_start"
        number = _number(payload)
        if number is not None:
            self._numbers.keep(number)
        self._with_text = self._with_text or bool(_text(payload))

    def renumber(self, payload: Body) -> list[Body]:
        """An event in the client's numbering; empty where the client has no use for it."""
        number = _number(payload)
        if number is not None:
            return self._renumbered({**payload, "index": self._numbers.of(number)})
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
        self._needs_gap = self._with_text

    def failure_event(self, message: str) -> Body:
        """An error as Anthropic sends it in the middle of a stream; its SDK raises it."""
        return {"type": "error", "error": {"type": "api_error", "message": message}}

    def _renumbered(self, payload: Body) -> list[Body]:
        """An event of a block; clients join texts, so one of a new round begins with a gap."""
        if not _text(payload):
            return [payload]
        self._with_text = True
        if not self._needs_gap:
            return [payload]
        self._needs_gap = False
        begins = payload["type"] == "content_block_start"
        gap = _text_event(payload["index"], GAP)
        return [_begun_with(GAP, payload)] if begins else [gap, payload]

    def _note(self, note: str) -> list[Body]:
        number = self._numbers.new()
        return [
            {"type": "content_block_start", "index": number, "content_block": text_block("")},
            _text_event(number, GAP + note if self._with_text else note),
            {"type": "content_block_stop", "index": number},
        ]


def _text(payload: Body) -> object:
    """The text that an event adds, if it adds any."""
    piece = payload.get("delta") or payload.get("content_block")
    return piece.get("text") if isinstance(piece, dict) else None


def _begun_with(text: str, payload: Body) -> Body:
    """The beginning of a block of text, with this text before its own."""
    block = payload["content_block"]
    return {**payload, "content_block": {**block, "text": f"{text}{block['text']}"}}


def _text_event(number: int, text: str) -> Body:
    delta = {"type": "text_delta", "text": text}
    return {"type": "content_block_delta", "index": number, "delta": delta}


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
        return object_of(written)
    except WireFormatError:
        return written
