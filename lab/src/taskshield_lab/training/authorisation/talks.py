"""Situations of other people's recorded conversations (`talks`).

A conversation counts where its outcome says that it went well. Its calls are then what the user
asked for; calls that people marked as wrong are left out.
"""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text, ToolCall
from taskshield.core.tools import ToolSpec
from taskshield_lab.training.authorisation.situations import (
    Made,
    Situation,
    SituationBuilder,
    conversation_situations,
)
from taskshield_lab.training.authorisation.value_swaps import OtherPeople

_LEVELS = {
    "system": Level.SYSTEM,
    "user": Level.USER,
    "assistant": Level.ASSISTANT,
    "tool": Level.TOOL,
}
_MENU = 6
"""Conversations with fewer tools get some of the others of their source."""
_ADDED = 8


def talk_situations(path: Path, most: int, rng: Random) -> Iterator[Situation]:
    """The situations of one source, at most so many."""
    source = f"talks:{path.name.partition('.')[0]}"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        talks = [talk for talk in map(json.loads, lines) if _went_well(talk)]
    rng.shuffle(talks)
    catalogue = {one["name"]: one for talk in talks for one in talk["tools"]}
    people = OtherPeople()
    made = 0
    for talk in talks:
        tools = {one["name"]: one for one in talk["tools"]}
        if len(tools) < _MENU:
            names = rng.sample(sorted(catalogue), min(_ADDED, len(catalogue)))
            tools = {name: catalogue[name] for name in names} | tools
        builder = SituationBuilder(source, map(_spec, tools.values()), people, rng)
        messages = [_message(one) for one in talk["messages"]]
        labels = {
            call.id: Made(call=call, asked=True, kind="recorded")
            for message in messages
            for call in message.tool_calls
        }
        for situation in conversation_situations(str(talk["id"]), messages, builder, labels, rng):
            yield situation
            made += 1
            if made == most:
                return


def _went_well(talk: dict[str, Any]) -> bool:
    outcome = talk["outcome"]
    labels = outcome.get("labels") or {}
    if outcome["success"] is None:
        scores = labels.get("scores")
        if scores is not None:
            return bool(scores["ToolCallRisk"] >= 2 and scores["Helpfulness"] >= 2)
        return labels.get("gave_up") is False
    return bool(outcome["success"])


def _spec(tool: dict[str, Any]) -> ToolSpec:
    return ToolSpec(name=tool["name"], description=tool.get("description") or "")


def _message(one: dict[str, Any]) -> Message:
    calls = tuple(
        ToolCall(id=call["id"], name=call["name"], arguments=_arguments(call["arguments"]))
        for call in one.get("tool_calls") or ()
    )
    level = _LEVELS[one["role"]]
    return Message(
        level=level,
        parts=(Text(text=one.get("content") or ""),),
        tool_calls=calls,
        answers=(one.get("tool_call_id") or "call") if level is Level.TOOL else None,
    )


def _arguments(given: Any) -> str:
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
