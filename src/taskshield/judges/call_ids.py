"""Call ids by number, so that two conversations that differ only in random ids are the same.

Ids are made up anew each time a conversation is held. They link calls to outputs and verdicts, but
say nothing, and no judge needs to see them.
"""

from dataclasses import replace

from taskshield.core.assessments import Assessment
from taskshield.core.judge import HistoryEntry, SessionView
from taskshield.core.messages import Message, ToolCall


class CallIds:
    """The ids of one message and its view, numbered from the newest on.

    So the number of an id does not depend on what was before it.
    """

    def __init__(self, message: Message, view: SessionView) -> None:
        self._numbers: dict[str, str] = {}
        self.message = self._message(message)
        """The message with numbers for ids."""
        answered = self._answered(view.answered)
        newest_first = [self._turn(turn) for turn in reversed(view.history)]
        self.view = replace(view, history=tuple(reversed(newest_first)), answered=answered)
        """The view with numbers for ids."""

    def restored(self, reading: Assessment) -> Assessment:
        """A reading of the numbered message, for the one with its own ids."""
        ids = {number: id for id, number in self._numbers.items()}
        items = tuple(
            item if item.call_id is None else replace(item, call_id=ids[item.call_id])
            for item in reading.items
        )
        return replace(reading, items=items)

    def _turn(self, turn: HistoryEntry) -> HistoryEntry:
        message = self._message(turn.message)
        refused = frozenset(self._number(id) for id in turn.refused)
        return replace(
            turn, message=message, refused=refused, answered=self._answered(turn.answered)
        )

    def _answered(self, call: ToolCall | None) -> ToolCall | None:
        return None if call is None else replace(call, id=self._number(call.id))

    def _message(self, message: Message) -> Message:
        calls = tuple(replace(call, id=self._number(call.id)) for call in message.tool_calls)
        answers = None if message.answers is None else self._number(message.answers)
        return replace(message, tool_calls=calls, answers=answers)

    def _number(self, id: str) -> str:
        return self._numbers.setdefault(id, f"#{len(self._numbers)}")
