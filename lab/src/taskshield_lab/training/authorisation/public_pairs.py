"""Situations of the public pairs of a request and a call (`alignment/pairs`)."""

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text, ToolCall
from taskshield.core.tools import ToolSpec
from taskshield_lab.training.authorisation.situations import (
    Made,
    Past,
    Row,
    Situation,
    SituationBuilder,
)
from taskshield_lab.training.authorisation.value_swaps import OtherPeople

_WRONG = 8
"""Wrong calls of the source, of each situation."""
_BORROWED = 4
"""Calls of other tasks of the same domain, of each situation."""


def pair_situations(path: Path, most: int, rng: Random) -> Iterator[Situation]:
    """The situations of one source, at most so many."""
    source = f"pairs:{path.name.partition('.')[0]}"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    by_task: defaultdict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    right: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_task[row["task"], json.dumps(row["goal"])].append(row)
        if row["label"] and row.get("args_known", True):
            right[row["domain"]].append(row)
    keys = sorted(by_task)
    rng.shuffle(keys)
    people = OtherPeople()
    for number, key in enumerate(keys[:most]):
        # Of one user's words there may be the calls of hundreds of attackers.
        asked = [row for row in by_task[key] if row["label"]]
        wrong = [row for row in by_task[key] if not row["label"]]
        for begin in range(0, max(1, len(wrong)), _WRONG):
            rows = asked + wrong[begin : begin + _WRONG]
            id = f"{source}/{number}.{begin}"
            yield from _situation(source, id, rows, right, people, rng)


def _situation(
    source: str,
    id: str,
    rows: list[dict[str, Any]],
    right: dict[str, list[dict[str, Any]]],
    people: OtherPeople,
    rng: Random,
) -> Iterator[Situation]:
    tools: dict[str, ToolSpec] = {}
    for row in rows:
        for one in row["tools"]:
            spec = ToolSpec(name=one["name"], description=one.get("description") or "")
            tools.setdefault(spec.name, spec)
    builder = SituationBuilder(source, tools.values(), people, rng)
    past = _past(rows)
    found: list[Row] = []
    for row in rows:
        if row.get("args_known", True):
            found += builder.rows(past, _made(row, asked=bool(row["label"]), kind=row["kind"]))
    used = {row["call"]["name"] for row in rows if row["label"]}
    others = right[rows[0]["domain"]]
    for other in rng.sample(others, min(_BORROWED, len(others))):
        same = other["task"] == rows[0]["task"] or other["goal"] == rows[0]["goal"]
        if same or other["call"]["name"] not in tools:
            continue
        if not builder.acts(other["call"]["name"]) and rng.random() < 0.6:
            continue
        weight = 0.6 if other["call"]["name"] in used else 0.8
        made = _made(other, asked=False, kind="other task", weight=weight)
        found += builder.rows(past, made)
    if found:
        yield builder.situation(id, past, found, uncertain=used)


def _past(rows: list[dict[str, Any]]) -> Past:
    """What the user said, with what the agent and tools said in between."""
    goal, past = rows[0]["goal"], Past()
    history = max((row["history"] for row in rows), key=len)
    for number, text in enumerate(goal):
        for one in history:
            if one["after"] == number:
                past.add(_message(one["role"], one["text"]))
        past.add(_message("user", text))
    for one in history:
        if one["after"] >= len(goal):
            past.add(_message(one["role"], one["text"]))
    return past


def _message(role: str, text: str) -> Message:
    if role == "tool":
        return Message(level=Level.TOOL, parts=(Text(text=text),), answers="call")
    if role == "assistant":
        spoken = "" if text.startswith("called ") else text
        return Message(level=Level.ASSISTANT, parts=(Text(text=spoken),))
    return Message(level=Level.USER, parts=(Text(text=text),))


def _made(row: dict[str, Any], *, asked: bool, kind: str, weight: float = 1.0) -> Made:
    call = row["call"]
    return Made(
        call=ToolCall(id="call", name=call["name"], arguments=json.dumps(call["args"])),
        asked=asked,
        kind=kind,
        weight=weight,
    )
