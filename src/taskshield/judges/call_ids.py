"""Replaces call ids by numbers, so that conversations that differ only in ids become the same.

Call ids are random in each conversation. They link calls to outputs and verdicts, but have no
meaning, and no judge needs them.
"""

from dataclasses import replace

from taskshield.core.assessments import Assessment
from taskshield.core.judge import HistoryEntry, SessionView
from taskshield.core.messages import Message, ToolCall


class CallIds:
    """The ids of one message and its view, numbered from the newest to the oldest.

    So the number of an id does not depend on earlier messages.
    """

    def __init__(self, message: Message, view: SessionView) -> None:
        self._numbers: dict[str, str] = {}
        self.message = self._message(message)
        """The message with numbers for ids."""
        answered = self._answered(view.answered)
        newest_first = [self._turn(turn) for turn in reversed(view.history)]
        self.view = replace(view, history=tuple(reversed(newest_first)), answered=answered)
        """The view with numbers for ids."""

    def restored(self, assessment: Assessment) -> Assessment:
        """An assessment of the numbered message with the original ids."""
        ids = {number: id for id, number in self._numbers.items()}
        items = tuple(
            item if item.call_id is None else replace(item, call_id=ids[item.call_id])
            for item in assessment.items
        )
        return replace(assessment, items=items)

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
