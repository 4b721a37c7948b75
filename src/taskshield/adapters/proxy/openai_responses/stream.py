"""OpenAI Responses as a stream.

Over several rounds the client sees one response with the id of the first round, all items that
passed, and the sum of usage. Sequence numbers continue those of the client's stream.
"""

from collections.abc import Hashable, Iterator, Sequence

from taskshield.adapters.parsing.json_reader import Field
from taskshield.adapters.proxy.exchange import Body
from taskshield.adapters.proxy.index_map import Numbering
from taskshield.adapters.proxy.json_edits import index_of
from taskshield.adapters.proxy.openai_responses.items import (
    calls_of,
    may_be_acted_on,
    note_item,
    text_part,
)
from taskshield.adapters.proxy.stream_gate import Disposition, Payload
from taskshield.adapters.proxy.usage import added

_BEGINNINGS = frozenset({"response.created", "response.queued", "response.in_progress"})
_IDENTITY = ("id", "created_at", "previous_response_id")
"""Members of a response that stay the same from its first event to its last."""


class ResponsesAssembly:
    """The events of one stream as one answer."""

    def __init__(self) -> None:
        self._response: Body = {}
        self._items: dict[int, Body] = {}

    def add(self, payload: Payload) -> tuple[Disposition, Payload]:
        """What to do with an event."""
        return "buffer" if payload is None else self._disposition(payload), payload

    def is_complete(self) -> bool:
        """A response always says that it is complete."""
        return False

    def response(self) -> Body:
        """The answer as it would be without streaming."""
        return {**self._response, "output": [self._items[n] for n in sorted(self._items)]}

    def calls(self) -> Sequence[Hashable]:
        """The output index of each call."""
        numbers = sorted(self._items)
        return [numbers[n] for n in calls_of([self._items[number] for number in numbers])]

    def _disposition(self, payload: Body) -> Disposition:
        event = Field(value=payload, key="event")
        kind = event["type"].text_or("")
        match kind:
            case "error":
                return "error"
            case "response.failed":
                self._listed(event["response"])
                return "error"
            case "response.completed" | "response.incomplete":
                self._complete(event["response"])
                return "end"
            case "response.created" | "response.queued" | "response.in_progress":
                event["response"].mapping()
            case "response.output_item.added" | "response.output_item.done":
                return self._item(event)
        if event["output_index"].given and index_of(event["output_index"]) not in self._items:
            return "buffer"  # a part of something that was never announced
        return "pass"

    def _item(self, event: Field) -> Disposition:
        number = index_of(event["output_index"])
        item = dict(event["item"].mapping())
        self._items[number] = item
        return "buffer" if may_be_acted_on(item) else "pass"

    def _complete(self, field: Field) -> None:
        """Some servers list the items again, some do not, and some list nothing else."""
        self._response = dict(field.mapping())
        numbers = {_identity(item): number for number, item in self._items.items()}
        for item in self._listed(field):
            after = max(self._items, default=-1) + 1
            self._items[numbers.get(_identity(item), after)] = item

    def _listed(self, response: Field) -> list[Body]:
        return [dict(item.mapping()) for item in response["output"].elements()]


class ResponsesOutlet:
    """The events that the client sees."""

    def __init__(self) -> None:
        self._response: Body = {}
        self._items: dict[int, Body] = {}
        self._numbers = Numbering()
        self._sequence = -1
        self._first_round = True
        self._earlier_usage: object = None

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
        if payload.get("type") in _BEGINNINGS and not self._first_round:
            return []
        number = _number(payload)
        if number is not None:
            payload = {**payload, "output_index": self._numbers.of(number)}
        if isinstance(payload.get("response"), dict):
            payload = {**payload, "response": self._whole(payload["response"])}
        return self._sent(payload)

    def without_calls(
        self, buffered: Sequence[Payload], dropped: set[Hashable], kept: set[Hashable], note: str
    ) -> list[Payload]:
        """The buffered events without the dropped calls, after an item with the note."""
        revised: list[Payload] = []
        for event in _message_events(
            note_item(self._response.get("id"), note), self._numbers.new()
        ):
            revised += self._sent(event)
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

    def _remember(self, payload: Body) -> None:
        """What the client knows about the response."""
        number, item = _number(payload), payload.get("item")
        if number is not None and isinstance(item, dict):
            self._items[number] = item
        if payload.get("type") in _BEGINNINGS and not self._response:
            self._response = payload["response"]

    def _sent(self, payload: Body) -> list[Body]:
        """An event in the client's own numbering, with the next sequence number."""
        self._remember(payload)
        self._sequence += 1
        return [{**payload, "sequence_number": self._sequence}]

    def _whole(self, response: Body) -> Body:
        """A response with exactly the items that the client has seen."""
        listed = {_identity(item): item for item in response.get("output") or ()}
        items = [self._items[number] for number in sorted(self._items)]
        same = {key: self._response[key] for key in _IDENTITY if key in self._response}
        usage = response.get("usage")
        counted = {} if usage is None else {"usage": added(self._earlier_usage, usage)}
        output = [listed.get(_identity(item), item) for item in items]
        return {**response, **same, **counted, "output": output}


def _number(payload: Body) -> int | None:
    """The number of the item that an event belongs to, if it belongs to one."""
    number = payload.get("output_index")
    return number if isinstance(number, int) else None


def _identity(item: Body) -> str:
    return f"{item.get('type')} {item.get('call_id') or item.get('id')}"


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
