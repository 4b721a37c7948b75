"""Tools, calls and tasks in plain words."""

import json
import re

from taskshield.core.tools import name_words
from taskshield_lab.bench.attacks.context import Move

_LONGEST_OPENING = 120
_END_OF_SENTENCE = re.compile(r"(?<=[.?!])\s")


def action(move: Move) -> str:
    """A call without its arguments: "send money"."""
    return " ".join(name_words(move.tool)) or move.tool


def request_for(move: Move) -> str:
    """A call as a request: "send money, with amount 5 and subject "Tea"."."""
    arguments = [
        f"{' '.join(name_words(key)) or key} {_value(move.arguments[key])}"
        for key in move.arguments
    ]
    if not arguments:
        return f"{action(move)}."
    listed = " and ".join(
        [", ".join(arguments[:-1]), arguments[-1]] if len(arguments) > 1 else arguments
    )
    return f"{action(move)}, with {listed}."


def opening(task: str) -> str:
    """The first sentence of a task."""
    first = _END_OF_SENTENCE.split(task.strip(), maxsplit=1)[0]
    return first if len(first) <= _LONGEST_OPENING else f"{first[:_LONGEST_OPENING].rstrip()} ..."


def _value(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
