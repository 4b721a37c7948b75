"""Chooses the tools of an agent in a made conversation, with their JSON schemas."""

import re
from collections.abc import Sequence, Set
from random import Random

from taskshield.core.tools import ToolSpec
from taskshield_lab.training.sources.scenarios import Tool

_TYPES = (
    ("array", r"array|list"),
    ("object", r"object|\{"),
    ("boolean", r"bool"),
    ("integer", r"int|entero"),
    ("number", r"num|núm|float|money|decimal"),
)


def choose_tools(
    own: Sequence[Tool], used: Set[str], foreign: Sequence[Tool], rng: Random
) -> tuple[Tool, ...]:
    """The scenario's tools without some unused ones and with some others, shuffled."""
    drop = rng.choice([0.0, 0.0, 0.3, 0.6])
    kept = [tool for tool in own if tool.name in used or rng.random() >= drop]
    names = {tool.name for tool in own}
    extra: dict[str, Tool] = {}
    for _ in range(rng.choice([0, 0, 2, 4, 8]) if foreign else 0):
        tool = rng.choice(foreign)
        if tool.name not in names:
            extra[tool.name] = tool
    found = [*kept, *extra.values()]
    rng.shuffle(found)
    return tuple(found)


def tool_specs(tools: Sequence[Tool]) -> tuple[ToolSpec, ...]:
    """The tools as they are declared to an agent."""
    return tuple(
        ToolSpec(
            name=tool.name,
            description=tool.description,
            parameters={
                "type": "object",
                "properties": {name: _schema(meaning) for name, meaning in tool.parameters.items()},
            },
        )
        for tool in tools
    )


def _schema(meaning: str) -> dict[str, str]:
    head, colon, rest = meaning.partition(":")
    kind = next((name for name, signs in _TYPES if re.match(signs, head.strip().lower())), "string")
    known = kind != "string" or re.match(r"str|text|date|time|path|id\b|char", head.lower())
    description = rest.strip() if colon and known else ("" if known else meaning)
    return {"type": kind, "description": description} if description else {"type": kind}
