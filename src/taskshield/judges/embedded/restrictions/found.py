"""What a call does against the user's words, and what is known of the conversation by then."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from taskshield.core.assessments import ContradictionKind
from taskshield.judges.embedded.restrictions.act import Act, Value
from taskshield.judges.embedded.restrictions.index import RestrictionIndex
from taskshield.judges.embedded.restrictions.records import Listing, Row, row_of
from taskshield.judges.embedded.restrictions.wording.said import Place, Said

_POINTING = frozenset(["identifier", "number", "address", "account", "name", "path"])
_MOST_LISTINGS = 40


class Found(NamedTuple):
    """One contradiction, before it is known which task it belongs to."""

    kind: ContradictionKind
    message: int
    place: Place
    said: str
    does: str


class Bound(NamedTuple):
    """A value of a call and the one record that has it."""

    listing: Listing
    number: int
    low: str
    value: Value

    @property
    def row(self) -> Row:
        """The record."""
        return self.listing.rows[self.number]

    @property
    def does(self) -> str:
        """The argument, as it is told."""
        return f"{self.value.path}: {self.value.text}"


@dataclass(frozen=True)
class Scene:
    """A call, and the conversation before it."""

    act: Act
    index: RestrictionIndex
    delegated: bool = False

    @property
    def last(self) -> Said:
        """The user's newest message."""
        return self.index.said[-1]

    @cached_property
    def request(self) -> tuple[Said, ...]:
        """The newest message, and the one before it where it only says yes."""
        said = self.index.said
        if len(said) > 1 and said[-1].brief and said[-1].goes_ahead:
            return (said[-1], said[-2])
        return (said[-1],)

    @property
    def tokens(self) -> set[str]:
        """All words of the user."""
        return self.index.tokens

    @cached_property
    def bound(self) -> tuple[Bound, ...]:
        """The records that the call's values point at."""
        found: list[Bound] = []
        for listing in self.index.newest_records()[:_MOST_LISTINGS]:
            for _, low, value in self.act.short:
                short = value.kind == "text" and len(low.split()) <= 5
                if (short or value.kind in _POINTING) and not value.trivial:
                    rows = listing.rows_of(low)
                    if len(rows) == 1 and len(listing.rows) > 1:
                        found.append(Bound(listing, rows[0], low, value))
        return tuple(found)

    @cached_property
    def touched(self) -> frozenset[str]:
        """The words of the call's values and of the records that they point at."""
        own = row_of(
            [
                ("", low)
                for _, low, value in self.act.short
                if value.kind != "text" or len(low.split()) <= 4
            ]
        ).tokens
        return own.union(*(one.row.tokens for one in self.bound))

    def found(self, kind: ContradictionKind, said: Said, place: Place, does: str = "") -> Found:
        """A contradiction with these words of a message."""
        words = said.text[place.start : place.end].strip(" \t\n,;:.")
        return Found(kind, said.message, place, words, does or self.act.call.name)

    def recent(self, most: int = 6) -> Iterator[tuple[Said, tuple[Said, ...]]]:
        """The user's newest messages, each with those after it."""
        said = self.index.said
        for number in range(max(0, len(said) - most), len(said)):
            yield said[number], tuple(said[number + 1 :])
