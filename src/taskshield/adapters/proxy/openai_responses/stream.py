"""OpenAI Responses as a stream.

The events say one thing several times: as an item begins, piece by piece, when it ends, and when
the response does. Clients read this or that of it, so what they say of a call must agree. Items are
numbered from 0 in the order in which they appear, because some clients find them by their place.
"""

from collections.abc import Hashable, Sequence

from taskshield.adapters.conversations.response_items import PROVIDER_RUN
from taskshield.adapters.parsing.json_reader import Field
from taskshield.adapters.proxy.exchange import Body
from taskshield.adapters.proxy.json_edits import index_of
from taskshield.adapters.proxy.openai_responses.items import (
    calls_of,
    check_item,
    identity,
    may_be_acted_on,
)
from taskshield.adapters.proxy.openai_responses.outlet import BEGINNINGS
from taskshield.adapters.proxy.openai_responses.streamed_item import StreamedItem
from taskshield.adapters.proxy.stream_gate import Disposition, Payload
from taskshield.adapters.proxy.strict_json import (
    check_has_no_call,
    check_members,
    kind_of,
    names_part_of_call,
)

_ENDS = frozenset({"response.completed", "response.incomplete"})
_FAILED = "response.failed"
_ITEMS = frozenset({"response.output_item.added", "response.output_item.done"})
_LIFE = BEGINNINGS | _ENDS
_KNOWN = _LIFE | _ITEMS | {_FAILED, "error"}
_OUTPUTS = "response.shell_call_output_content."
_RUNNING = tuple(f"response.{kind}" for kind in PROVIDER_RUN)
_OF_RESPONSES = ("output", "instructions", "input")


_SAID = frozenset({"response.output_text.delta", "response.refusal.delta"})
_NUMBERS = ("output_index", "content_index", "sequence_number")
_STRINGS = ("delta", "item_id", "obfuscation")
_PIECE = frozenset({"type", "logprobs", *_NUMBERS, *_STRINGS})
"""Types of events with a piece of text, and their members."""


def check_response(field: Field) -> None:
    """Check that a response has calls among its items only.

    Raises:
        WireFormatError: It has, or some readers may find some.
    """
    check_members(field, *_OF_RESPONSES)
    for item in field["output"].elements():
        check_item(item)


class ResponsesAssembly:
    """The events of one stream as one answer."""

    def __init__(self) -> None:
        self._response: Body = {}
        self._items: list[StreamedItem] = []
        self._numbers: dict[int, int] = {}

    def add(self, payload: Payload) -> tuple[Disposition, Payload]:
        """What to do with an event, and the event with its item under a number of its own."""
        if payload is None:
            return "buffer", None
        if _is_text(payload) and (number := self._numbers.get(payload["output_index"])) is not None:
            if self._items[number].say(payload):
                same = number == payload["output_index"]
                return "pass", payload if same else {**payload, "output_index": number}
        event = Field(value=payload, key="event")
        kind = kind_of(event, _KNOWN)
        if kind == _FAILED:
            return "error", self._failed(event, payload)
        disposition = self._disposition(kind, event)
        if not event["output_index"].given:
            return disposition, payload
        number = self._numbers[index_of(event["output_index"])]
        same = number == payload["output_index"]
        return disposition, payload if same else {**payload, "output_index": number}

    def is_complete(self) -> bool:
        """A response always says that it is complete."""
        return False

    def response(self) -> Body:
        """The answer as it would be without streaming."""
        return {**self._response, "output": [item.whole() for item in self._items]}

    def calls(self) -> Sequence[Hashable]:
        """The output index of each call."""
        return calls_of([item.newest for item in self._items])

    def _disposition(self, kind: str, event: Field) -> Disposition:
        if kind in _LIFE:
            check_members(event, "response")
            check_response(event["response"])
            if kind in BEGINNINGS:
                self._begun(event["response"])
                return "pass"
            self._complete(event["response"])
            return "end"
        if kind in _ITEMS:
            check_members(event, "item")
            return self._item(kind, event)
        if kind == "error":
            check_members(event, "message")
            check_has_no_call(event["message"])
            return "error"
        check_members(event, "delta", *(("output",) if kind.startswith(_OUTPUTS) else ()))
        check_has_no_call(event["delta"])
        return self._part(kind, event)

    def _begun(self, response: Field) -> None:
        for item in response["output"].elements():
            if may_be_acted_on(dict(item.mapping())):
                raise item.refused("a response does not begin with a call")

    def _item(self, kind: str, event: Field) -> Disposition:
        check_item(event["item"])
        index, item = index_of(event["output_index"]), dict(event["item"].mapping())
        if index in self._numbers and kind.endswith("added"):
            raise event["output_index"].refused("two items have this number")
        self._item_at(index).update(item)
        return "buffer" if may_be_acted_on(item) else "pass"

    def _part(self, kind: str, event: Field) -> Disposition:
        """An event about a part of an item."""
        of_call = names_part_of_call(kind) and not kind.startswith((_OUTPUTS, *_RUNNING))
        if not event["output_index"].given:
            if of_call:
                raise event["output_index"].wrong("a number from 0 on")
            return "pass"
        index = index_of(event["output_index"])
        announced = index in self._numbers
        item = self._item_at(index)
        if of_call and not item.acts:
            raise event["output_index"].refused("no call with this number has begun")
        if not kind.startswith(_OUTPUTS):
            item.note(kind, event)
        return "pass" if announced else "buffer"

    def _item_at(self, index: int) -> StreamedItem:
        if index not in self._numbers:
            self._numbers[index] = len(self._items)
            self._items.append(StreamedItem())
        return self._items[self._numbers[index]]

    def _complete(self, field: Field) -> None:
        """Some servers list the items again, some do not, and some list nothing else."""
        self._response = dict(field.mapping())
        if not (self._items or field["output"].given):
            raise field["output"].wrong("a list of items")
        left = {identity(item.newest): item for item in reversed(self._items)}
        for listed in field["output"].elements():
            version = dict(listed.mapping())
            item = left.pop(identity(version), None)
            if item is None:
                item = StreamedItem()
                self._items.append(item)
            item.update(version)

    def _failed(self, event: Field, payload: Body) -> Body:
        """The event without calls, which were not judged."""
        check_members(event, "response")
        check_response(event["response"])
        items = [dict(item.mapping()) for item in event["response"]["output"].elements()]
        kept = [item for item in items if not may_be_acted_on(item)]
        if len(kept) == len(items):
            return payload
        return {**payload, "response": {**payload["response"], "output": kept}}


def _is_text(event: Body) -> bool:
    """Whether an event is a piece of text as providers send it, and nothing else.

    Nearly all events are. What this takes for text needs none of the other checks.
    """
    return (
        str(event.get("type")) in _SAID
        and _PIECE.issuperset(event)
        and not event.get("logprobs")
        and all(isinstance(event.get(name, ""), str) for name in _STRINGS)
        and all(type(event.get(name, 0)) is int for name in _NUMBERS)
        and "output_index" in event
    )
