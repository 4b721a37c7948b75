"""The events of an OpenAI Responses stream that the client sees.

Over several rounds the client sees one response with the id of the first round, all items that
passed, and the sum of usage. Sequence numbers continue those of the client's stream.
"""

from collections.abc import Hashable, Iterator, Sequence

from taskshield.adapters.proxy.exchange import Body
from taskshield.adapters.proxy.feedback_rounds import GAP
from taskshield.adapters.proxy.index_map import Numbering
from taskshield.adapters.proxy.openai_responses.items import identity, note_item, text_part
from taskshield.adapters.proxy.stream_gate import Payload
from taskshield.adapters.proxy.usage import added

BEGINNINGS = frozenset({"response.created", "response.queued", "response.in_progress"})
_IDENTITY = ("id", "created_at", "previous_response_id")
"""Members of a response that stay the same from its first event to its last."""


class ResponsesOutlet:
    """The events that the client sees."""

    def __init__(self) -> None:
        self._response: Body = {}
        self._items: dict[int, Body] = {}
        self._numbers = Numbering()
        self._sequence = -1
        self._first_round = True
        self._earlier_usage: object = None
        self._with_text = False
        self._needs_gap = False

    def note_passed(self, payload: Payload) -> None:
        """Take note of an event that is passed to the client as it is."""
        if payload is None:
            return
        sequence = payload.get("sequence_number")
        if isinstance(sequence, int):
            self._sequence = max(self._sequence, sequence)
        number = _number(payload)
        if number is not None:
            self._numbers.keep(number)
        self._remember(payload)

    def renumber(self, payload: Body) -> list[Body]:
        """An event in the client's numbering; empty where the client has no use for it."""
        if payload.get("type") in BEGINNINGS and not self._first_round:
            return []
        number = _number(payload)
        gap: list[Body] = []
        if self._needs_gap and _item_type(payload) == "message":
            self._needs_gap = False
            gap = self._message(GAP)  # clients join the texts of all items
        if number is not None:
            payload = {**payload, "output_index": self._numbers.of(number)}
        if isinstance(payload.get("response"), dict):
            payload = {**payload, "response": self._whole(payload["response"])}
        return [*gap, *self._sent(payload)]

    def without_calls(
        self, buffered: Sequence[Payload], dropped: set[Hashable], kept: set[Hashable], note: str
    ) -> list[Payload]:
        """The buffered events without the dropped calls, after an item with the note."""
        revised: list[Payload] = [*self._message(GAP + note if self._with_text else note)]
        for payload in buffered:
            if payload is None:
                revised.append(None)
            elif _number(payload) not in dropped:
                revised += self.renumber(payload)
        return revised

    def continues_passed(self, payload: Payload) -> bool:
        """Whether an event belongs to an item that the client has seen begin."""
        return payload is not None and _number(payload) in self._numbers

    def start_round(self, usage: object) -> None:
        """Another provider stream begins."""
        self._earlier_usage = usage
        self._first_round = False
        self._numbers.start_round()
        self._needs_gap = self._with_text

    def failure_event(self, message: str) -> Body:
        """The end of a response that failed, or an error where none has begun."""
        error = {"code": "server_error", "message": message}
        if not self._response:
            (event,) = self._sent({"type": "error", **error, "param": None})
        else:
            items = [self._items[number] for number in sorted(self._items)]
            failed = {**self._response, "status": "failed", "error": error, "output": items}
            (event,) = self._sent({"type": "response.failed", "response": failed})
        return event

    def _message(self, text: str) -> list[Body]:
        """The events of a message that the proxy adds."""
        number, response = self._numbers.new(), self._response.get("id")
        # No two items of a response may share an id.
        item = note_item(f"{response} {number}" if text == GAP else response, text)
        events = _message_events(item, number)
        return [sent for event in events for sent in self._sent(event)]

    def _remember(self, payload: Body) -> None:
        """What the client knows about the response."""
        self._with_text = self._with_text or _item_type(payload) == "message"
        number, item = _number(payload), payload.get("item")
        if number is not None and isinstance(item, dict):
            self._items[number] = item
        if payload.get("type") in BEGINNINGS and not self._response:
            self._response = payload["response"]

    def _sent(self, payload: Body) -> list[Body]:
        """An event in the client's own numbering, with the next sequence number."""
        self._remember(payload)
        self._sequence += 1
        return [{**payload, "sequence_number": self._sequence}]

    def _whole(self, response: Body) -> Body:
        """A response with exactly the items that the client has seen."""
        listed = {identity(item): item for item in response.get("output") or ()}
        items = [self._items[number] for number in sorted(self._items)]
        same = {key: self._response[key] for key in _IDENTITY if key in self._response}
        usage = response.get("usage")
        counted = {} if usage is None else {"usage": added(self._earlier_usage, usage)}
        output = [listed.get(identity(item), item) for item in items]
        return {**response, **same, **counted, "output": output}


def _number(payload: Body) -> int | None:
    """The number of the item that an event belongs to, if it belongs to one."""
    number = payload.get("output_index")
    return number if isinstance(number, int) else None


def _item_type(payload: Body) -> object:
    item = payload.get("item")
    return item.get("type") if isinstance(item, dict) else None


def _message_events(item: Body, number: int) -> Iterator[Body]:
    """The events of a message with one text, from its beginning to its end."""
    (part,) = item["content"]
    at = {"item_id": item["id"], "output_index": number, "content_index": 0}
    empty = {**item, "status": "in_progress", "content": []}
    text = {"text": part["text"], "logprobs": []}
    delta = {"delta": part["text"], "logprobs": []}
    yield {"type": "response.output_item.added", "output_index": number, "item": empty}
    yield {"type": "response.content_part.added", **at, "part": text_part("")}
    yield {"type": "response.output_text.delta", **at, **delta}
    yield {"type": "response.output_text.done", **at, **text}
    yield {"type": "response.content_part.done", **at, "part": part}
    yield {"type": "response.output_item.done", "output_index": number, "item": item}
