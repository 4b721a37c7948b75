"""Which part of the past a judge is shown.

The user's messages are always there, whole. Of the rest the newest turns are kept up to a token
budget; a tool call and its outputs stay or go together. A long text is shortened in the middle, and
the newest exchange as a whole where it must be, so that no single one pushes out everything else.
"""

from collections import defaultdict
from dataclasses import replace

from taskshield.core.judge import Turn
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text, ToolCall
from taskshield.core.quotations import shortened
from taskshield.core.usage import estimate_tokens

_SHARE_OF_ONE_TEXT = 4
"""A single text may take one in this many of the budget's tokens."""
_PER_QUOTATION = 16
"""Tokens that quoting a text takes, besides the text. So even empty turns do not stay for ever."""
_NAME_BYTES = 200


def remember(turns: tuple[Turn, ...], turn: Turn, budget: int) -> tuple[Turn, ...]:
    """The history after one more turn. Costs no more than the budget, however long the session."""
    return _window([*turns, _shortened(turn, budget // _SHARE_OF_ONE_TEXT)], budget)


def short_call(call: ToolCall, tokens: int) -> ToolCall:
    """The call with a long name and long arguments cut."""
    name = shortened(call.name, _NAME_BYTES)
    return replace(call, name=name, arguments=shortened(call.arguments, tokens * 4))


def _window(turns: list[Turn], budget: int) -> tuple[Turn, ...]:
    groups = _exchanges(turns)
    kept: set[int] = set()
    spent, newest = 0, True
    for members in groups:
        if turns[members[0]].message.level is Level.USER:
            kept.update(members)
            continue
        size = sum(_tokens(turns[index]) for index in members)
        if newest and size > budget:
            size = _squeeze(turns, members, budget)
        spent += size
        if newest or spent <= budget:
            kept.update(members)
        else:
            spent = budget + 1  # what is older goes as well, even if it would fit
        newest = False
    return tuple(turn for index, turn in enumerate(turns) if index in kept)


def _exchanges(turns: list[Turn]) -> list[list[int]]:
    """Each message with the outputs that answer its calls, by number; the newest message first."""
    members: defaultdict[int, list[int]] = defaultdict(list)
    owners: dict[str, int] = {}
    for index, turn in enumerate(turns):
        answers = turn.message.answers
        owner = index if answers is None else owners.get(answers, index)
        members[owner].append(index)
        owners.update((call.id, index) for call in turn.message.tool_calls)
    return [members[owner] for owner in sorted(members, reverse=True)]


def _squeeze(turns: list[Turn], members: list[int], budget: int) -> int:
    """Shorten the texts of one exchange until it fits, if that can be; its size then."""
    texts = sum(_quotations(turns[index]) for index in members)
    share = max(0, budget // texts - 4 * _PER_QUOTATION)
    for index in members:
        turns[index] = _shortened(turns[index], share)
    return sum(_tokens(turns[index]) for index in members)


def _tokens(turn: Turn) -> int:
    message = turn.message
    calls = [*message.tool_calls, *([] if turn.answered is None else [turn.answered])]
    text = message.text + "".join(call.name + call.arguments for call in calls)
    return estimate_tokens(text) + _PER_QUOTATION * _quotations(turn)


def _quotations(turn: Turn) -> int:
    return 1 + len(turn.message.tool_calls) + (turn.answered is not None)


def _shortened(turn: Turn, tokens: int) -> Turn:
    message = turn.message
    if message.level is Level.USER:
        return turn
    share = tokens // max(1, len(message.tool_calls))
    answered = turn.answered
    return replace(
        turn,
        message=replace(
            message,
            parts=_short_parts(message, tokens),
            tool_calls=tuple(short_call(call, share) for call in message.tool_calls),
        ),
        answered=None if answered is None else short_call(answered, tokens // 4),
    )


def _short_parts(message: Message, tokens: int) -> tuple[Text, ...]:
    text = shortened(message.text, tokens * 4)
    return (Text(text=text),) if text else ()
