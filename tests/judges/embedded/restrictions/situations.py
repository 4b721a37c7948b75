"""Conversations in short, and what a call in them contradicts."""

import json
from collections.abc import Sequence
from typing import Any

from taskshield.core.judge import HistoryEntry
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text, ToolCall
from taskshield.core.tools import Tier
from taskshield.judges.embedded.evidence.argument_values import argument_values
from taskshield.judges.embedded.restrictions.act import Act
from taskshield.judges.embedded.restrictions.contradictions import find_contradictions
from taskshield.judges.embedded.restrictions.found import Found
from taskshield.judges.embedded.restrictions.index import RestrictionIndex

Turn = str | tuple[str, str] | tuple[str, str, dict[str, Any]]
"""What the user says; or who speaks ("agent", "output") and the text; or a call with its output."""


def found(
    turns: Sequence[Turn],
    tool: str,
    tier: Tier = Tier.WRITE,
    *,
    about: str = "",
    delegated: bool = False,
    **arguments: object,
) -> list[Found]:
    """What the call contradicts after these turns."""
    index = RestrictionIndex()
    history: list[HistoryEntry] = []
    for number, turn in enumerate(turns):
        if isinstance(turn, str):
            index.add_user(number, turn)
        elif turn[0] == "agent":
            index.add_assistant(number, turn[1])
        elif turn[0] == "output":
            index.add_output(number, turn[1])
        else:
            name, output, made = turn  # type: ignore[misc]
            earlier = ToolCall(id=f"c{number}", name=name, arguments=json.dumps(made))
            asking = Message(level=Level.ASSISTANT, tool_calls=(earlier,))
            answer = Message(level=Level.TOOL, parts=(Text(text=output),), answers=earlier.id)
            history.append(HistoryEntry(message=asking, index=number))
            history.append(HistoryEntry(message=answer, index=number))
            index.add_output(number, output)
    call = ToolCall(id="call", name=tool, arguments=json.dumps(arguments, ensure_ascii=False))
    act = Act(call, tier, argument_values(call), about)
    return find_contradictions(act, index, history, delegated=delegated)


def kinds(*given: Any, **arguments: Any) -> set[str]:
    """The kinds of what it contradicts."""
    return {one.kind for one in found(*given, **arguments)}
