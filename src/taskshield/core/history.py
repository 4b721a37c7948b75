"""Which part of the past is kept, and which a judge is shown.

The user's messages are always there, whole. Of the rest the newest turns are kept up to a token
budget; a tool call and its outputs stay or go together. A long text is shortened in the middle, and
the newest exchange as a whole where it must be, so that no single one pushes out everything else.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from taskshield.core.judge import HistoryEntry
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text, ToolCall
from taskshield.core.quotations import shorten
from taskshield.core.usage import estimate_tokens

_SHARE_OF_ONE_TEXT = 4
"""A single text may take one in this many of the budget's tokens."""
_PER_QUOTATION = 16
"""Tokens that quoting a text takes, besides the text. So even empty turns do not stay for ever."""
_NAME_BYTES = 200


def remember(
    turns: tuple[HistoryEntry, ...], turn: HistoryEntry, budget: int
) -> tuple[HistoryEntry, ...]:
    """The history after one more turn. Costs no more than the budget, however long the session."""
    window = _Window(turns, budget)
    window.add(turn)
    return window.turns


def recent(turns: Iterable[HistoryEntry], budget: int) -> tuple[HistoryEntry, ...]:
    """What would be left of these turns, had they been remembered within this budget."""
    window = _Window((), budget)
    for turn in turns:
        window.add(turn)
    return window.turns


def shorten_call(call: ToolCall, tokens: int) -> ToolCall:
    """The call with a long name and long arguments cut."""
    name = shorten(call.name, _NAME_BYTES)
    return replace(call, name=name, arguments=shorten(call.arguments, tokens * 4))


class _Window:
    """Turns by their place in the conversation, and how many tokens each exchange takes.

    An exchange is a message with the outputs that answer its calls, by the place of the message.
    Turns of the user are in none.
    """

    def __init__(self, turns: Iterable[HistoryEntry], budget: int) -> None:
        self._budget = budget
        self._turns: dict[int, HistoryEntry] = {}
        self._exchanges: defaultdict[int, list[int]] = defaultdict(list)
        self._sizes: defaultdict[int, int] = defaultdict(int)
        self._callers: dict[str, int] = {}
        self._seen = 0
        for turn in turns:
            self._put(turn)

    @property
    def turns(self) -> tuple[HistoryEntry, ...]:
        """What is in the window now, in order."""
        return tuple(self._turns.values())

    def add(self, turn: HistoryEntry) -> None:
        """Take in one more turn, and let go of what does not fit any more."""
        if turn.message.level is Level.USER:
            self._put(turn)
            return
        self._put(_shortened(turn, self._budget // _SHARE_OF_ONE_TEXT))
        newest, *older = sorted(self._exchanges, reverse=True)
        if self._sizes[newest] > self._budget:
            self._squeeze(newest)
        spent = self._sizes[newest]
        for exchange in older:
            spent += self._sizes[exchange]
            if spent > self._budget:  # and all that is older goes as well
                self._drop(exchange)

    def _put(self, turn: HistoryEntry) -> None:
        place = self._seen
        self._seen += 1
        self._turns[place] = turn
        if turn.message.level is Level.USER:
            return
        answers = turn.message.answers
        exchange = place if answers is None else self._callers.get(answers, place)
        self._exchanges[exchange].append(place)
        self._sizes[exchange] += _tokens(turn)
        self._callers.update((call.id, place) for call in turn.message.tool_calls)

    def _squeeze(self, exchange: int) -> None:
        """Shorten the texts of an exchange until it fits, if that can be."""
        members = self._exchanges[exchange]
        texts = sum(_quotations(self._turns[place]) for place in members)
        share = max(0, self._budget // texts - 4 * _PER_QUOTATION)
        for place in members:
            self._turns[place] = _shortened(self._turns[place], share)
        self._sizes[exchange] = sum(_tokens(self._turns[place]) for place in members)

    def _drop(self, exchange: int) -> None:
        for place in self._exchanges.pop(exchange):
            for call in self._turns.pop(place).message.tool_calls:
                if self._callers.get(call.id) == place:  # ids may be used again
                    del self._callers[call.id]
        del self._sizes[exchange]


def _tokens(turn: HistoryEntry) -> int:
    message = turn.message
    calls = [*message.tool_calls, *([] if turn.answered is None else [turn.answered])]
    text = message.text + "".join(call.name + call.arguments for call in calls)
    return estimate_tokens(text) + _PER_QUOTATION * _quotations(turn)


def _quotations(turn: HistoryEntry) -> int:
    return 1 + len(turn.message.tool_calls) + (turn.answered is not None)


def _shortened(turn: HistoryEntry, tokens: int) -> HistoryEntry:
    message = turn.message
    share = tokens // max(1, len(message.tool_calls))
    answered = turn.answered
    return replace(
        turn,
        message=replace(
            message,
            parts=_short_parts(message, tokens),
            tool_calls=tuple(shorten_call(call, share) for call in message.tool_calls),
        ),
        answered=None if answered is None else shorten_call(answered, tokens // 4),
    )


def _short_parts(message: Message, tokens: int) -> tuple[Text, ...]:
    text = shorten(message.text, tokens * 4)
    return (Text(text=text),) if text else ()
