"""One item of a Responses stream, with all that the events say of it."""

from collections.abc import Iterator, Mapping
from typing import Any

from taskshield.adapters.parsing.json_reader import Field
from taskshield.adapters.proxy.exchange import Body
from taskshield.adapters.proxy.openai_responses.items import may_be_acted_on, text_part
from taskshield.core.errors import WireFormatError

_UNANNOUNCED: Body = {"type": "message", "role": "assistant", "content": []}
"""What texts belong to that no item was announced for."""
_CHANGING = frozenset({"id", "status"})
"""Members that may be others in another event, because nothing is done by them."""
_LABELS = frozenset({"type", "id", "item_id", "call_id", "status", "delta", "obfuscation", "name"})
"""Members of an item or an event that no model wrote as a part of what is to be done."""


class StreamedItem:
    """One item, as far as it has arrived."""

    def __init__(self) -> None:
        self._versions: list[Body] = []
        self._pieces: dict[tuple[object, ...], list[str]] = {}
        self._labels: list[Body] = []
        self._texts: set[str] = set()
        self._acts = False

    @property
    def newest(self) -> Body:
        """The item as the newest event has it."""
        return self._versions[-1] if self._versions else _UNANNOUNCED

    @property
    def acts(self) -> bool:
        """Whether it is a call that the client may act on."""
        return self._acts

    def update(self, version: Body) -> None:
        """Another event has the item."""
        self._versions.append(version)
        self._acts = self._acts or may_be_acted_on(version)

    def say(self, event: Body) -> bool:
        """Add a piece of text, unless the item is a call."""
        if self._acts or "delta" not in event:
            return False
        place = event.get("content_index")
        piece = (event["type"], place if isinstance(place, int) else None, None)
        self._pieces.setdefault(piece, []).append(event["delta"])
        return True

    def note(self, kind: str, event: Field) -> None:
        """An event has a part of the item: a piece of a text, or a whole one."""
        members = event.mapping()
        place = tuple(members.get(key) for key in ("content_index", "command_index"))
        if isinstance(members.get("delta"), str):
            piece = (kind, *(each if isinstance(each, int) else None for each in place))
            self._pieces.setdefault(piece, []).append(str(members["delta"]))
        self._texts.update(_written(members))
        self._labels.append({key: members.get(key) for key in ("name", "call_id")})

    def whole(self) -> Body:
        """The item with everything that was said of it.

        Raises:
            WireFormatError: It is a call, and the events contradict each other.
        """
        said = {"".join(pieces) for pieces in self._pieces.values()} | self._texts
        if self.acts:
            self._check(said)
            return self.newest
        if self.newest.get("type") != "message":
            return self.newest
        known = set(_texts(self.newest.get("content")))
        more = [text_part(text) for text in sorted(said - known) if text]
        given = self.newest.get("content") or []
        if not more or not isinstance(given, list):
            return self.newest
        return {**self.newest, "content": [*given, *more]}

    def _check(self, said: set[str]) -> None:
        last = self.newest
        for version in [*self._versions[:-1], *self._labels]:
            early = {key: value for key, value in version.items() if key not in _CHANGING}
            if not _agrees(early, last):
                raise WireFormatError("the events of a stream contradict each other about a call")
        if not said <= {*_written(last), ""}:
            raise WireFormatError("a call is not what was written for it")


def _agrees(early: Any, last: Any) -> bool:
    """Whether nothing in an early version of a value is another in its last one."""
    if early in (None, "", [], {}):
        return True
    if isinstance(early, dict) and isinstance(last, dict):
        return all(_agrees(value, last.get(key)) for key, value in early.items())
    if isinstance(early, list) and isinstance(last, list):
        pairs = zip(early, last, strict=False)
        return len(early) <= len(last) and all(_agrees(one, other) for one, other in pairs)
    return bool(early == last)


def _written(members: Mapping[str, Any]) -> Iterator[str]:
    """All texts in an item or an event, but for its labels."""
    return _texts({key: value for key, value in members.items() if key not in _LABELS})


def _texts(value: Any) -> Iterator[str]:
    """All texts in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)
