"""Anthropic messages as a stream.

Blocks are numbered from 0 in the order in which they begin, because clients find them by their
place.
"""

from collections.abc import Hashable, Mapping, Sequence

from taskshield.adapters.parsing.json_reader import Field
from taskshield.adapters.proxy.anthropic.blocks import PROVIDER_RUN, check_block, is_call
from taskshield.adapters.proxy.exchange import Body
from taskshield.adapters.proxy.json_edits import assembled, index_of
from taskshield.adapters.proxy.stream_gate import Disposition, Payload
from taskshield.adapters.proxy.strict_json import check_members, kind_of, object_of
from taskshield.core.errors import WireFormatError

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
_EVENTS, _DELTAS = frozenset(_PLACES), frozenset(_GROWN)


_DELTA = frozenset({"type", "index", "delta"})
_SAID = {
    "text_delta": frozenset({"type", "text"}),
    "thinking_delta": frozenset({"type", "thinking"}),
}
"""Members of an event with a piece of text, and of what is new in it."""


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
        if _is_text(payload) and (number := self._numbers.get(payload["index"])) is not None:
            if self._blocks[number].say(payload["delta"]):
                return "pass", payload if number == payload["index"] else {
                    **payload,
                    "index": number,
                }
        event = Field(value=payload, key="event")
        kind = kind_of(event, _EVENTS)
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


def _is_text(event: Body) -> bool:
    """Whether an event is a piece of text as providers send it, and nothing else.

    Nearly all events are. What this takes for text needs none of the other checks.
    """
    delta = event.get("delta")
    return (
        event.get("type") == "content_block_delta"
        and event.keys() == _DELTA
        and type(event["index"]) is int
        and isinstance(delta, dict)
        and _SAID.get(str(delta.get("type"))) == delta.keys()
        and all(isinstance(value, str) for value in delta.values())
    )


class _Block:
    """One block, as far as it has arrived."""

    def __init__(self, start: Body) -> None:
        self.is_call = is_call(start)
        self._start = start
        self._pieces: list[Body] = [start]
        self._input: list[str] = []

    def say(self, delta: Body) -> bool:
        """Add a piece of text, unless the block is a call."""
        if not self.is_call:
            self._pieces.append({member: delta[member] for member in _GROWN[delta["type"]]})
        return not self.is_call

    def grow(self, delta: Field) -> None:
        """Add a piece. A piece adds to one member only, whatever else it holds."""
        kind = kind_of(delta, _DELTAS)
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


def _members(field: Field) -> Body:
    return dict(field.mapping()) if field.given else {}


def _parsed(written: str) -> object:
    """A call's input as the object that it is without streaming, or the text where it is none."""
    try:
        return object_of(written)
    except WireFormatError:
        return written
