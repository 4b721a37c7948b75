"""A window over a log in which steps of one conversation find each other.

Tracers write the steps of many conversations in whatever order they end. They are kept until the
file is at its end, or until they take too much memory: then the conversation that has been quiet
for longest is closed. Steps of it that come later are a conversation of their own.
"""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field

from taskshield.adapters.traces.assembly import Piece
from taskshield.audit.logs.formats import Format, Part
from taskshield.core.messages import Message

CHARACTERS = 128 * 1024 * 1024
"""How much text of open conversations is kept."""
_OVERHEAD = 2_000
"""What a step takes besides its text, about."""


@dataclass(slots=True, kw_only=True)
class Group:
    """The steps of one conversation so far."""

    format: Format
    line: int
    """Where the first of them stands."""
    pieces: list[Piece] = field(default_factory=list)
    weight: int = 0


class Window:
    """Groups that are still open."""

    def __init__(self, characters: int = CHARACTERS) -> None:
        self._open: OrderedDict[tuple[Format, str], Group] = OrderedDict()
        self._most = characters
        self._weight = 0
        self.closed_early = 0
        """How many groups had to be closed before the end."""

    def add(self, part: Part, line: int) -> Iterator[Group]:
        """Take in a step; the groups that are closed for it."""
        key = (part.format, part.piece.group)
        group = self._open.setdefault(key, Group(format=part.format, line=line))
        self._open.move_to_end(key)
        weight = _weight(part.piece)
        group.pieces.append(part.piece)
        group.weight += weight
        self._weight += weight
        while self._weight > self._most:
            _, quiet = self._open.popitem(last=False)
            self._weight -= quiet.weight
            self.closed_early += 1
            yield quiet

    def rest(self) -> list[Group]:
        """All groups that are still open, in the order in which they began."""
        groups = sorted(self._open.values(), key=lambda group: group.line)
        self._open.clear()
        self._weight = 0
        return groups


def _weight(piece: Piece) -> int:
    return _OVERHEAD + sum(_length(message) for message in piece.step.messages)


def _length(message: Message) -> int:
    return len(message.text) + sum(len(call.arguments) for call in message.tool_calls)
