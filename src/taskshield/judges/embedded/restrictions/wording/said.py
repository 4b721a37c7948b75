"""What one message of the user restricts, as values."""

from dataclasses import dataclass, field
from typing import NamedTuple

from taskshield.judges.embedded.restrictions.wording.moments import Moments
from taskshield.judges.embedded.restrictions.wording.quantities import Quantity


class Place(NamedTuple):
    """Characters `start` to `end` of the user's own words."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Order:
    """A verb of the user, and the clause behind it."""

    act: str
    place: Place
    end: int
    """Where the clause ends."""


@dataclass(frozen=True, slots=True)
class Prohibition:
    """What the user does not want done."""

    place: Place
    acts: frozenset[str]
    """Empty: any."""
    names: frozenset[str]
    """Words that say to what or whom; empty where it holds for everything."""
    loose: bool
    """Whether it is only about "it" or "that"."""
    yet: bool
    """Whether it holds for the time being."""
    stem: str = ""
    """The stem of a verb that is not in the table; `acts` is empty then."""
    noun: bool = False
    """Whether it is no more than "no refunds"."""


@dataclass(frozen=True, slots=True)
class Limit:
    """An amount that the user does not want exceeded, or undercut."""

    place: Place
    quantity: Quantity
    condition: bool
    """Whether it is a condition on what the records say."""


@dataclass(frozen=True, slots=True)
class Correction:
    """One value in place of another: "40, not 50"."""

    place: Place
    new: str
    old: str


@dataclass(frozen=True, slots=True)
class Exclusion:
    """What is to be left alone: "all but the dentist"."""

    place: Place
    names: frozenset[str]
    quoted: bool = False
    """Whether the words may be a message: "tell her to leave the study alone"."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a list: "the second one", "the cheaper one"."""

    place: Place
    index: int | None = None
    """From 0; negative from the end."""
    superlative: str = ""


@dataclass(frozen=True, slots=True)
class Direction:
    """From one to another."""

    place: Place
    source: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message of the user."""

    message: int
    text: str
    """The user's own words."""
    low: str
    tokens: frozenset[str]
    asks: frozenset[str]
    """What it asks to do, as far as the verbs say."""
    orders: tuple[Order, ...]
    """Each of these verbs with its place."""
    goes_ahead: bool
    plural: bool
    brief: bool
    prohibitions: tuple[Prohibition, ...] = ()
    limits: tuple[Limit, ...] = ()
    quantities: tuple[Quantity, ...] = ()
    corrections: tuple[Correction, ...] = ()
    exclusions: tuple[Exclusion, ...] = ()
    choices: tuple[Choice, ...] = ()
    numbers: tuple[Place, frozenset[int]] | None = None
    """The numbers of a list that an answer allows: "only 1 and 3"."""
    directions: tuple[Direction, ...] = ()
    moments: Moments = field(default_factory=Moments)
    look_only: Place | None = None
    only_asks: Place | None = None
    """Where it asks for information, if it asks for nothing else."""
    withdrawn: Place | None = None
    nothing_else: Place | None = None
    waits: Place | None = None
    once: tuple[tuple[Place, str], ...] = ()
    """What has to happen first, and by whom."""
