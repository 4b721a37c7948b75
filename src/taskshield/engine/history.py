"""Which part of the past a judge is shown.

The user's messages are always there, whole. Of the rest the newest turns are kept up to a token
budget; a tool call and its outputs stay or go together, and a single long text is shortened in the
middle so that one large output does not push out everything else.
"""

from collections import defaultdict
from dataclasses import replace

from taskshield.core.judge import Turn
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text, ToolCall
from taskshield.core.usage import estimate_tokens

_SHARE_OF_ONE_TEXT = 4
"""A single text may take one in this many of the budget's tokens."""


def remember(turns: tuple[Turn, ...], turn: Turn, budget: int) -> tuple[Turn, ...]:
    """The history after one more turn. Costs no more than the budget, however long the session."""
    return _window((*turns, _shortened(turn, budget // _SHARE_OF_ONE_TEXT)), budget)


def _window(turns: tuple[Turn, ...], budget: int) -> tuple[Turn, ...]:
    groups: defaultdict[int, list[int]] = defaultdict(list)
    owners: dict[str, int] = {}
    for index, turn in enumerate(turns):
        answers = turn.message.answers
        owner = index if answers is None else owners.get(answers, index)
        groups[owner].append(index)
        owners.update((call.id, index) for call in turn.message.tool_calls)
    kept: set[int] = set()
    spent, full = 0, False
    for owner in sorted(groups, reverse=True):
        if turns[owner].message.level is Level.USER:
            kept.update(groups[owner])
            continue
        spent += sum(_tokens(turns[index].message) for index in groups[owner])
        full = full or spent > budget
        if not full:
            kept.update(groups[owner])
    return tuple(turn for index, turn in enumerate(turns) if index in kept)


def _tokens(message: Message) -> int:
    calls = "".join(call.name + call.arguments for call in message.tool_calls)
    return estimate_tokens(message.text + calls)


def _shortened(turn: Turn, tokens: int) -> Turn:
    message = turn.message
    if message.level is Level.USER:
        return turn
    limit = tokens * 4
    calls = tuple(_shortened_call(call, limit) for call in message.tool_calls)
    text = message.text
    if len(text) > limit:
        message = replace(message, parts=(Text(text=_middle_cut(text, limit)),))
    return replace(turn, message=replace(message, tool_calls=calls))


def _shortened_call(call: ToolCall, limit: int) -> ToolCall:
    if len(call.arguments) <= limit:
        return call
    return replace(call, arguments=_middle_cut(call.arguments, limit))


def _middle_cut(text: str, limit: int) -> str:
    half = limit // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]} [... {left_out} characters left out ...] {text[len(text) - half :]}"
