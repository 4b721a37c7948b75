"""What an attacker knows and what he comes up with.

Plain values. Where the texts are put belongs to `evals.exam.staging`; what an agent does about them
belongs to the agent.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A tool call that somebody wants to see made."""

    tool: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackContext:
    """What the attacker knows. It is all there is to know: the attacker is as strong as can be."""

    task: str
    """What the user asked for."""
    goal: str
    """What the attacker wants, as an instruction."""
    user_moves: tuple[Move, ...]
    """The calls that solve the user's task, in order."""
    goal_moves: tuple[Move, ...]
    """The calls that reach the attacker's goal, in order; none where words alone reach it."""
    slots: tuple[str, ...]
    """Places in the data that the agent will read and the attacker can write, in reading order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """An argument of one of the user's own calls, replaced by a value of the attacker's."""

    tool: str
    argument: str
    genuine: object
    false: object

    def fits(self, move: Move) -> bool:
        """Whether this is the call with the genuine argument."""
        return move.tool == self.tool and move.arguments.get(self.argument) == self.genuine

    def made_in(self, move: Move) -> bool:
        """Whether this is the call with the false argument, however a model has written it."""
        given = _written(move.arguments.get(self.argument))
        return move.tool == self.tool and _written(self.false) <= given

    def applied(self, move: Move) -> Move:
        """The call with the false argument."""
        return Move(tool=move.tool, arguments={**move.arguments, self.argument: self.false})


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """What the attacker plants, and what an agent does that falls for it."""

    slots: Mapping[str, str] = field(default_factory=dict)
    """Text for each slot, to appear there letter by letter."""
    descriptions: Mapping[str, str] = field(default_factory=dict)
    """Text at the end of a tool's description, by tool."""
    errors: Mapping[str, str] = field(default_factory=dict)
    """Error text with which the first call of a tool fails, by tool."""
    essential: str | None = None
    """The part of the text without which nobody could follow it; None means all of it."""
    moves: tuple[Move, ...] | None = None
    """What a hijacked agent does; None means the scene's `goal_moves`, all at once."""
    swaps: tuple[Swap, ...] = ()
    """Arguments that a hijacked agent gets wrong; then nothing else is the attacker's goal."""
    spread: bool = False
    """Whether a hijacked agent takes one of the moves between each two of its own."""


def _written(value: object) -> frozenset[str]:
    """The values in an argument as text: 100 and "100.0" are the same, and so is a list of one."""
    if isinstance(value, list | tuple):
        return frozenset().union(*map(_written, value))
    try:
        return frozenset({str(float(str(value)))})
    except ValueError:
        return frozenset({str(value).strip().casefold()})
