"""The events of an Anthropic stream that the client sees.

Over several rounds the client sees the `message_start` of the first round, all blocks that passed,
and at the end the sum of usage.
"""

from collections.abc import Hashable, Sequence

from taskshield.adapters.proxy.exchange import Body
from taskshield.adapters.proxy.feedback_rounds import GAP
from taskshield.adapters.proxy.index_map import Numbering
from taskshield.adapters.proxy.stream_gate import Payload
from taskshield.adapters.proxy.usage import added


def text_block(text: str) -> Body:
    """A block of text."""
    return {"type": "text", "text": text}


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
