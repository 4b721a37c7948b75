"""Which part of the past a session keeps, and which part of that a judge sees.

The user's messages are always kept whole. Of all others the newest are kept up to a token budget; a
tool call and its outputs are kept or dropped together. A long text is shortened in the middle, and
the newest exchange as a whole where it must be, so that a single one does not displace all others.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeAlias

from taskshield.core.judge import HistoryEntry
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text, ToolCall
from taskshield.core.quotations import shorten
from taskshield.core.usage import estimate_tokens

_TEXTS_PER_BUDGET = 4
"""A single text may take this fraction of the budget: one fourth."""
_TOKENS_PER_QUOTATION = 16
"""Tokens for the quotation marks around a text. So even empty turns are dropped in time."""
_NAME_BYTES = 200


AddTurn: TypeAlias = Callable[
    [tuple[HistoryEntry, ...], HistoryEntry, int], tuple[HistoryEntry, ...]
]
"""Adds a turn to a history, of which so many tokens are kept."""


def remember(
    turns: tuple[HistoryEntry, ...], turn: HistoryEntry, budget: int
) -> tuple[HistoryEntry, ...]:
    """The history with one more turn."""
    return Memory().remember(turns, turn, budget)


class Memory:
    """Adds turn after turn to one history, and measures only the new ones."""

    def __init__(self) -> None:
        self._turns: tuple[HistoryEntry, ...] = ()
        self._window = _Window((), 0)

    def remember(
        self, turns: tuple[HistoryEntry, ...], turn: HistoryEntry, budget: int
    ) -> tuple[HistoryEntry, ...]:
        """The history with one more turn."""
        if turns is not self._turns or budget != self._window.budget:
            self._window = _Window(turns, budget)
        self._window.add(turn)
        self._turns = self._window.turns
        return self._turns


def recent(turns: Iterable[HistoryEntry], budget: int) -> tuple[HistoryEntry, ...]:
    """The part of these turns that fits this smaller budget."""
    window = _Window((), budget)
    for turn in turns:
        window.add(turn)
    return window.turns


def shorten_call(call: ToolCall, tokens: int) -> ToolCall:
    """The call with a long name and long arguments cut."""
    name = shorten(call.name, _NAME_BYTES)
    return replace(call, name=name, arguments=shorten(call.arguments, tokens * 4))


class _Window:
    """Turns by their position in the conversation, and how many tokens each exchange takes.

    An exchange is a message with the outputs that answer its calls; its key is the position of the
    message. Turns of the user belong to no exchange.
    """

    def __init__(self, turns: Iterable[HistoryEntry], budget: int) -> None:
        self.budget = budget
        self._turns: dict[int, HistoryEntry] = {}
        self._exchanges: defaultdict[int, list[int]] = defaultdict(list)
        self._sizes: defaultdict[int, int] = defaultdict(int)
        self._callers: dict[str, int] = {}
        self._seen = 0
        for turn in turns:
            self._append(turn)

    @property
    def turns(self) -> tuple[HistoryEntry, ...]:
        """The turns in the window, in order."""
        return tuple(self._turns.values())

    def add(self, turn: HistoryEntry) -> None:
        """Add a turn and drop exchanges that no longer fit, the oldest first."""
        if turn.message.level is Level.USER:
            self._append(turn)
            return
        self._append(_shorten_turn(turn, self.budget // _TEXTS_PER_BUDGET))
        newest, *older = sorted(self._exchanges, reverse=True)
        if self._sizes[newest] > self.budget:
            self._shorten_exchange(newest)
        spent = self._sizes[newest]
        for exchange in older:
            spent += self._sizes[exchange]
            if spent > self.budget:  # older exchanges are dropped too: the sum only grows
                self._drop(exchange)

    def _append(self, turn: HistoryEntry) -> None:
        position = self._seen
        self._seen += 1
        self._turns[position] = turn
        if turn.message.level is Level.USER:
            return
        answers = turn.message.answers
        exchange = position if answers is None else self._callers.get(answers, position)
        self._exchanges[exchange].append(position)
        self._sizes[exchange] += _count_tokens(turn)
        self._callers.update((call.id, position) for call in turn.message.tool_calls)

    def _shorten_exchange(self, exchange: int) -> None:
        """Shorten the texts of an exchange so that it fits, where that is possible."""
        members = self._exchanges[exchange]
        texts = sum(_count_quotations(self._turns[position]) for position in members)
        share = max(0, self.budget // texts - 4 * _TOKENS_PER_QUOTATION)
        for position in members:
            self._turns[position] = _shorten_turn(self._turns[position], share)
        self._sizes[exchange] = sum(_count_tokens(self._turns[position]) for position in members)

    def _drop(self, exchange: int) -> None:
        for position in self._exchanges.pop(exchange):
            for call in self._turns.pop(position).message.tool_calls:
                if self._callers.get(call.id) == position:  # an id may occur twice
                    del self._callers[call.id]
        del self._sizes[exchange]


def _count_tokens(turn: HistoryEntry) -> int:
    message = turn.message
    calls = [*message.tool_calls, *([] if turn.answered is None else [turn.answered])]
    text = message.text + "".join(call.name + call.arguments for call in calls)
    return estimate_tokens(text) + _TOKENS_PER_QUOTATION * _count_quotations(turn)


def _count_quotations(turn: HistoryEntry) -> int:
    return 1 + len(turn.message.tool_calls) + (turn.answered is not None)


def _shorten_turn(turn: HistoryEntry, tokens: int) -> HistoryEntry:
    message = turn.message
    share = tokens // max(1, len(message.tool_calls))
    answered = turn.answered
    return replace(
        turn,
        message=replace(
            message,
            parts=_shorten_parts(message, tokens),
            tool_calls=tuple(shorten_call(call, share) for call in message.tool_calls),
        ),
        answered=None if answered is None else shorten_call(answered, tokens // 4),
    )


def _shorten_parts(message: Message, tokens: int) -> tuple[Text, ...]:
    text = shorten(message.text, tokens * 4)
    return (Text(text=text),) if text else ()
