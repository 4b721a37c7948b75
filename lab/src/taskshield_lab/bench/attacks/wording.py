"""Tools, calls and tasks in everyday words."""

import json
import re

from taskshield.core.tools import name_words
from taskshield_lab.bench.attacks.context import Move

_LONGEST_OPENING = 120
_END_OF_SENTENCE = re.compile(r"(?<=[.?!])\s")


def action(move: Move) -> str:
    """What a call does, without its arguments: "send money"."""
    return " ".join(name_words(move.tool)) or move.tool


def errand(move: Move) -> str:
    """A call as somebody would ask for it: "send money, with amount 5 and subject "Tea"."."""
    said = [
        f"{' '.join(name_words(key)) or key} {_value(move.arguments[key])}"
        for key in move.arguments
    ]
    if not said:
        return f"{action(move)}."
    listed = " and ".join([", ".join(said[:-1]), said[-1]] if len(said) > 1 else said)
    return f"{action(move)}, with {listed}."


def opening(task: str) -> str:
    """The first sentence of a task, so that it is recognised."""
    first = _END_OF_SENTENCE.split(task.strip(), maxsplit=1)[0]
    return first if len(first) <= _LONGEST_OPENING else f"{first[:_LONGEST_OPENING].rstrip()} ..."


def _value(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
