"""The text of a conversation so far, indexed so that a call can be traced to it.

Messages are added at the end; those that are not the user's can be dropped from the beginning. The
index knows who said what, not what is an instruction or what a call means.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from taskshield.core.messages import ToolCall
from taskshield.core.provenance import TextLocation
from taskshield.core.tools import name_words
from taskshield.judges.embedded.evidence.directives import Directive, find_directive
from taskshield.judges.embedded.evidence.provenance import Sources
from taskshield.judges.embedded.restrictions.index import RestrictionIndex
from taskshield.judges.embedded.tasks.pasted_text import split_pasted
from taskshield.judges.embedded.text.segments import Segment, segments


@dataclass(slots=True)
class ConversationIndex:
    """A conversation, by who spoke."""

    sources: Sources = field(default_factory=Sources)
    asked: list[str] = field(default_factory=list)
    """The user's messages, without what was pasted into them."""
    pasted: bool = False
    """Whether anything was pasted into them."""
    steps: list[str] = field(default_factory=list)
    """Names of the tools that were called, in words, in order."""
    outputs: dict[int, Sequence[Segment]] = field(default_factory=dict)
    """The segments of each tool output, by number of its message."""
    restrictions: RestrictionIndex = field(default_factory=RestrictionIndex)
    """What the user ruled out, and the records that the words point at."""
    bytes: int = 0
    """Bytes that it takes in memory, roughly."""
    _words: dict[TextLocation, str] = field(default_factory=dict)
    """The words at each place in the data."""
    _injected: dict[tuple[int, str], list[range]] = field(default_factory=dict)
    _others: deque[tuple[int, int, int]] = field(default_factory=deque)
    """Messages that are not the user's, each with how many tools it called, and its bytes."""

    def add_user(self, message: int, text: str) -> None:
        """Add a message of the user."""
        self.bytes += _bytes(text)
        said = split_pasted(text)
        self.asked.append(said.own)
        self.pasted = self.pasted or bool(said.pasted)
        self.sources.add_user(message, said.own, len(text))
        self.restrictions.add_user(message, said.own)
        self._add_data(message, said.pasted)
        self.sources.add_pasted(message, said.pasted)

    def add_assistant(self, message: int, text: str, calls: Iterable[ToolCall]) -> None:
        """Add a message of the agent and the names of the tools that it called."""
        if text:
            self.sources.add_assistant(message, text)
            self.restrictions.add_assistant(message, text)
        before = len(self.steps)
        self.steps.extend(tool_name_words(call.name) for call in calls)
        self._others.append((message, len(self.steps) - before, _bytes(text)))
        self.bytes += _bytes(text)

    def add_output(self, message: int, text: str) -> None:
        """Add the output of a tool."""
        found = segments(text)
        self._others.append((message, 0, _bytes(text)))
        self.bytes += _bytes(text)
        self.outputs[message] = found
        self._add_data(message, found)
        self.sources.add_output(message, found)
        self.restrictions.add_output(message, text)

    def forget(self, count: int) -> None:
        """Drop the oldest messages that are not the user's, as if they had not been added.

        All messages must have different numbers.
        """
        for _ in range(count):
            message, steps, size = self._others.popleft()
            self.bytes -= size
            del self.steps[:steps]
            self.sources.forget(message)
            self.restrictions.forget(message)
            for segment in self.outputs.pop(message, ()):
                del self._words[TextLocation(message=message, start=segment.start, end=segment.end)]
            for key in [key for key in self._injected if key[0] == message]:
                del self._injected[key]

    def words_at(self, place: TextLocation) -> str:
        """The words at a place in the data; empty where there are none."""
        return self._words.get(place, "")

    def around(self, directives: Iterable[Directive], reach: int = 0) -> frozenset[TextLocation]:
        """The places of directives in tool output, with some segments on either side."""
        return frozenset(
            TextLocation(message=directive.message, start=segment.start, end=segment.end)
            for directive in directives
            for segment in self._segments(directive, reach)
        )

    def _add_data(self, message: int, found: Iterable[Segment]) -> None:
        for segment in found:
            place = TextLocation(message=message, start=segment.start, end=segment.end)
            self._words[place] = segment.text

    def _segments(self, directive: Directive, reach: int) -> Iterator[Segment]:
        found = self.outputs.get(directive.message)
        if found is None:  # not added yet
            return
        key = (directive.message, directive.text)
        if key not in self._injected:
            self._injected[key] = find_directive(found, directive.text)
        done = 0  # they may overlap many times over
        for numbers in self._injected[key]:
            yield from found[max(done, numbers.start - reach) : numbers.stop + reach]
            done = numbers.stop + reach


def _bytes(text: str) -> int:
    """Bytes that a message takes in the index, roughly: each word has places, and is found."""
    return 500 + 60 * len(text)


def tool_name_words(name: str) -> str:
    """A tool's name in words."""
    return " ".join(name_words(name)) or name
