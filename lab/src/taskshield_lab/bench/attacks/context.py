"""What an attacker knows, and the payload that an attack produces.

Plain values. `agentdojo.attack_placement` places payloads in environments; `run` executes agents.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A tool call that the user or the attacker wants."""

    tool: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackContext:
    """What the attacker knows. It is everything: the strongest attacker."""

    task: str
    """The user's request."""
    goal: str
    """The attacker's goal, as an instruction."""
    user_moves: tuple[Move, ...]
    """The calls that solve the user's task, in order."""
    goal_moves: tuple[Move, ...]
    """The calls that reach the attacker's goal, in order. Empty if text alone reaches it."""
    slots: tuple[str, ...]
    """Places in the data that the agent reads and the attacker can write, in reading order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """An argument of one of the user's calls, replaced by a value of the attacker."""

    tool: str
    argument: str
    genuine: object
    false: object

    def fits(self, move: Move) -> bool:
        """Whether this is the call with the genuine argument."""
        return move.tool == self.tool and move.arguments.get(self.argument) == self.genuine

    def made_in(self, move: Move) -> bool:
        """Whether this is the call with the false argument, in any spelling of the value."""
        given = _as_text(move.arguments.get(self.argument))
        return move.tool == self.tool and _as_text(self.false) <= given

    def applied(self, move: Move) -> Move:
        """The call with the false argument."""
        return Move(tool=move.tool, arguments={**move.arguments, self.argument: self.false})


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """The injected texts, and what an agent does that obeys them."""

    slots: Mapping[str, str] = field(default_factory=dict)
    """Text for each slot, used verbatim."""
    descriptions: Mapping[str, str] = field(default_factory=dict)
    """Text appended to a tool's description, by tool."""
    errors: Mapping[str, str] = field(default_factory=dict)
    """Error text with which the first call of a tool fails, by tool."""
    essential: str | None = None
    """The part that an agent must read to obey. None means the whole text."""
    moves: tuple[Move, ...] | None = None
    """The calls of a hijacked agent. None means the `goal_moves` of the context, all at once."""
    swaps: tuple[Swap, ...] = ()
    """Arguments that a hijacked agent gets wrong. They replace the attacker's goal."""
    spread: bool = False
    """Whether a hijacked agent alternates between the attacker's calls and its own."""


def _as_text(value: object) -> frozenset[str]:
    """The values of an argument as text. 100, "100.0" and [100] are equal."""
    if isinstance(value, list | tuple):
        return frozenset().union(*map(_as_text, value))
    try:
        return frozenset({str(float(str(value)))})
    except ValueError:
        return frozenset({str(value).strip().casefold()})
