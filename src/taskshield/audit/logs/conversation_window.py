"""Groups the steps of a log by conversation, with bounded memory.

Tracers write the steps of many conversations in the order in which they end. Steps are kept until
the end of the file, or until they need too much memory. Then the conversation that was idle longest
is closed. Later steps of it become a new conversation.
"""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field

from taskshield.adapters.traces.assembly import Piece
from taskshield.audit.logs.formats import Format, Part
from taskshield.core.messages import Message

CHARACTERS = 128 * 1024 * 1024
"""Limit for the text of open conversations."""
_OVERHEAD = 2_000
"""Memory of a step besides its text, estimated."""


@dataclass(slots=True, kw_only=True)
class Group:
    """The steps of one conversation so far."""

    format: Format
    line: int
    """Line of the first step."""
    pieces: list[Piece] = field(default_factory=list)
    weight: int = 0


class Window:
    """The open groups."""

    def __init__(self, characters: int = CHARACTERS) -> None:
        self._open: OrderedDict[tuple[Format, str], Group] = OrderedDict()
        self._most = characters
        self._weight = 0
        self.closed_early = 0
        """Number of groups closed before the end of the file."""

    def add(self, part: Part, line: int) -> Iterator[Group]:
        """Add a step. The groups that are closed to make room."""
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
        """All open groups, in the order of their first lines."""
        groups = sorted(self._open.values(), key=lambda group: group.line)
        self._open.clear()
        self._weight = 0
        return groups


def _weight(piece: Piece) -> int:
    return _OVERHEAD + sum(_length(message) for message in piece.step.messages)


def _length(message: Message) -> int:
    return len(message.text) + sum(len(call.arguments) for call in message.tool_calls)
