"""What a conversation has shown so far, indexed so that a call can be traced to it.

A story grows at its end; from its beginning, what is not the user's can be forgotten. It knows who
said what; what is an instruction and what a call means is not its business.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from taskshield.core.messages import ToolCall
from taskshield.core.provenance import TextLocation
from taskshield.core.tools import name_words
from taskshield.judges.embedded.evidence.directives import Directive, find_directive
from taskshield.judges.embedded.evidence.provenance import Sources
from taskshield.judges.embedded.tasks.pasted_text import split_pasted
from taskshield.judges.embedded.text.segments import Segment, segments


@dataclass(slots=True)
class ConversationIndex:
    """A conversation, by who spoke."""

    sources: Sources = field(default_factory=Sources)
    asked: list[str] = field(default_factory=list)
    """The user's messages, without what was pasted into them."""
    steps: list[str] = field(default_factory=list)
    """Names of the tools that were called, in words, in order."""
    outputs: dict[int, Sequence[Segment]] = field(default_factory=dict)
    """The segments of each tool output, by number of its message."""
    _words: dict[TextLocation, str] = field(default_factory=dict)
    """What stands at each place in the data."""
    _planted: dict[tuple[int, str], list[range]] = field(default_factory=dict)
    _others: deque[tuple[int, int]] = field(default_factory=deque)
    """Messages that are not the user's, each with how many tools it called."""

    def add_user(self, message: int, text: str) -> None:
        """The user says something."""
        said = split_pasted(text)
        self.asked.append(said.own)
        self.sources.add_user(message, said.own, len(text))
        self._add_data(message, said.pasted)
        self.sources.add_pasted(message, said.pasted)

    def add_assistant(self, message: int, text: str, calls: Iterable[ToolCall]) -> None:
        """The agent says something and calls tools."""
        if text:
            self.sources.add_assistant(message, text)
        before = len(self.steps)
        self.steps.extend(tool_name_words(call.name) for call in calls)
        self._others.append((message, len(self.steps) - before))

    def add_output(self, message: int, text: str) -> None:
        """A tool answers."""
        found = segments(text)
        self._others.append((message, 0))
        self.outputs[message] = found
        self._add_data(message, found)
        self.sources.add_output(message, found)

    def forget(self, count: int) -> None:
        """Let go of the oldest messages that are not the user's: as if they had not been heard.

        All messages must have numbers of their own.
        """
        for _ in range(count):
            message, steps = self._others.popleft()
            del self.steps[:steps]
            self.sources.forget(message)
            for segment in self.outputs.pop(message, ()):
                del self._words[TextLocation(message=message, start=segment.start, end=segment.end)]
            for key in [key for key in self._planted if key[0] == message]:
                del self._planted[key]

    def words_at(self, place: TextLocation) -> str:
        """What stands at a place in the data, or nothing."""
        return self._words.get(place, "")

    def around(self, directives: Iterable[Directive], reach: int = 0) -> frozenset[TextLocation]:
        """The places in tool output that directives take up, and some segments on either side."""
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
        if found is None:  # not heard yet, or heard by another story
            return
        key = (directive.message, directive.text)
        if key not in self._planted:
            self._planted[key] = find_directive(found, directive.text)
        for numbers in self._planted[key]:
            yield from found[max(0, numbers.start - reach) : numbers.stop + reach]


def tool_name_words(name: str) -> str:
    """A tool's name in words."""
    return " ".join(name_words(name)) or name
