"""What is kept of a conversation for its restrictions: the user's messages as read, and records."""

from collections import deque
from dataclasses import dataclass, field

from taskshield.judges.embedded.restrictions.records import Listing, agent_list, listings
from taskshield.judges.embedded.restrictions.wording.reading import read
from taskshield.judges.embedded.restrictions.wording.said import Said
from taskshield.judges.embedded.restrictions.wording.words import lowered

_MOST_OUTPUTS = 60
"""Outputs whose records are kept; the newest."""


@dataclass(slots=True)
class RestrictionIndex:
    """The user's messages, the agent's texts and the records, by number of the message."""

    said: list[Said] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    """All words of the user."""
    agent: dict[int, str] = field(default_factory=dict)
    """The agent's texts, in lower case."""
    lists: dict[int, Listing] = field(default_factory=dict)
    """The lists that the agent put to the user."""
    records: dict[int, list[Listing]] = field(default_factory=dict)
    outputs: dict[int, str] = field(default_factory=dict)
    """The outputs in lower case, cut."""
    _order: deque[int] = field(default_factory=deque)

    def add_user(self, message: int, own: str) -> None:
        """Read a message of the user, without what was pasted into it."""
        self.said.append(read(message, own))
        self.tokens |= self.said[-1].tokens

    def add_assistant(self, message: int, text: str) -> None:
        """Keep a text of the agent, and the list in it."""
        if not text:
            return
        self.agent[message] = lowered(text[:20_000])
        found = agent_list(text)
        if found is not None:
            self.lists[message] = found

    def add_output(self, message: int, text: str) -> None:
        """Read the records of an output."""
        self.records[message] = listings(text)
        self.outputs[message] = lowered(text[:60_000])
        self._order.append(message)
        if len(self._order) > _MOST_OUTPUTS:
            self.forget(self._order[0])

    def forget(self, message: int) -> None:
        """Drop a message that is not the user's."""
        if message in self.records:
            self._order.remove(message)
        for kept in (self.agent, self.lists, self.records, self.outputs):
            kept.pop(message, None)

    def newest_records(self, after: int = -1) -> list[Listing]:
        """All listings, the newest output first."""
        return [
            one
            for message in reversed(self._order)
            if message > after
            for one in self.records[message]
        ]

    def has_number(self, value: float) -> bool:
        """Whether a number stands in any output."""
        ways = {f"{value:g}", f"{value:.2f}", f"{value:,.2f}", f"{value:,.0f}", f"{value:.0f}"}
        ways |= {way.translate(str.maketrans(",.", ".,")) for way in ways}
        return any(way in text for text in self.outputs.values() for way in ways)

    def has_text(self, low: str) -> bool:
        """Whether words stand in any output."""
        return any(low in text for text in self.outputs.values())

    def question_before(self, message: int) -> tuple[int, str] | None:
        """The agent's last text before a message of the user, if no earlier one of the user."""
        earlier = [number for number in self.agent if number < message]
        if not earlier:
            return None
        return max(earlier), self.agent[max(earlier)]
