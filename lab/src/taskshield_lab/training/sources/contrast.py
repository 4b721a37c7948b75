"""Reads and checks contrast sets: conversations in which a small change turns a verdict.

Each line of a file has a first variant and others that differ from it in one word, value or short
sentence. Each variant has calls to be judged one at a time. The format is explained in
`lab/data/contrast/README.md`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from taskshield.core.errors import WireFormatError
from taskshield.core.levels import Level
from taskshield.core.tools import ToolSpec
from taskshield_lab.training.sources.scenarios import Call

Wrong = Literal[
    "object",
    "amount",
    "recipient",
    "time",
    "forbidden",
    "look_only",
    "condition",
    "withdrawn",
    "used_up",
    "not_yet",
    "unasked",
    "prying",
    "attack",
]
"""Why a call is not what the user asked for; `lab/data/contrast/README.md` explains each."""
WRONGS: frozenset[str] = frozenset(get_args(Wrong))
UNSAID = frozenset({"unasked", "prying", "attack"})
"""What no words of the user rule out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What the user or the agent says."""

    level: Level
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """An earlier call and its output."""

    call: Call
    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A call to be judged."""

    call: Call
    wrong: Wrong | None
    """None if the call is aligned."""
    said: str | None
    """The user's words that rule the call out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One version of a conversation, and the calls to be judged at its end, each on its own."""

    turns: tuple[Words | Made, ...]
    situations: tuple[Situation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """A conversation in several variants; the first is the one that the others differ from."""

    id: str
    kind: str
    domain: str
    lang: str
    register: str
    system: str | None
    tools: tuple[ToolSpec, ...]
    variants: tuple[Variant, ...]


def read_contrasts(path: Path) -> tuple[Contrast, ...]:
    """All conversations of a file, with their variants.

    Raises:
        WireFormatError: A line is not such a conversation; the message names file and line.
    """
    found: dict[str, Contrast] = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        try:
            contrast = _contrast(json.loads(line))
            _check(contrast)
            if contrast.id in found:
                raise ValueError("An earlier line has the same id.")
        except KeyError as error:
            raise WireFormatError(f"{path.name}:{number}: {error} is missing.") from error
        except (ValueError, TypeError, AttributeError, IndexError, RecursionError) as error:
            raise WireFormatError(f"{path.name}:{number}: {error}") from error
        found[contrast.id] = contrast
    return tuple(found.values())


def _contrast(row: Mapping[str, Any]) -> Contrast:
    turns = row["turns"]
    first = Variant(turns=_turns(turns), situations=_situations(row["calls"]))
    return Contrast(
        id=row["id"],
        kind=row["kind"],
        domain=row["domain"],
        lang=row["lang"],
        register=row["register"],
        system=row.get("system"),
        tools=tuple(ToolSpec(**tool) for tool in row["tools"]),
        variants=(first, *(_variant(one, turns) for one in row.get("variants", ()))),
    )


def _variant(row: Mapping[str, Any], turns: Sequence[Mapping[str, Any]]) -> Variant:
    changed: dict[str, Any] = row.get("turns", {})
    if unknown := changed.keys() - {str(number) for number in range(len(turns))}:
        raise ValueError(f"A variant changes turn {min(unknown)}, which there is not.")
    if not changed and not row.get("append"):
        raise ValueError("A variant changes nothing.")
    versions = [changed.get(str(number), turn) for number, turn in enumerate(turns)]
    kept = [turn for turn in versions if turn is not None]
    return Variant(
        turns=_turns([*kept, *row.get("append", [])]), situations=_situations(row["calls"])
    )


def _turns(rows: Sequence[Mapping[str, Any]]) -> tuple[Words | Made, ...]:
    return tuple(map(_turn, rows))


def _turn(row: Mapping[str, Any]) -> Words | Made:
    match row:
        case {"user": str(text), **rest} if not rest:
            return Words(level=Level.USER, text=text)
        case {"agent": str(text), **rest} if not rest:
            return Words(level=Level.ASSISTANT, text=text)
        case {"call": str(name), "args": dict(args), "output": str(output), **rest} if not rest:
            return Made(call=Call(name=name, args=args), output=output)
        case _:
            raise ValueError(f"{row} is not a turn.")


def _situations(rows: Sequence[Mapping[str, Any]]) -> tuple[Situation, ...]:
    return tuple(map(_situation, rows))


def _situation(row: Mapping[str, Any]) -> Situation:
    wrong = row.get("wrong")
    if row["aligned"] is not (wrong is None):
        raise ValueError("A call is either aligned or has a reason why it is wrong.")
    if wrong is not None and wrong not in WRONGS:
        raise ValueError(f"{wrong!r} is not a reason why a call is wrong.")
    return Situation(
        call=Call(name=row["call"], args=row["args"]), wrong=wrong, said=row.get("said")
    )


def _check(contrast: Contrast) -> None:
    names = {tool.name for tool in contrast.tools}
    for variant in contrast.variants:
        texts = [
            turn.text
            for turn in variant.turns
            if isinstance(turn, Words) and turn.level is Level.USER
        ]
        made = [turn.call for turn in variant.turns if isinstance(turn, Made)]
        for call in [*made, *(situation.call for situation in variant.situations)]:
            if call.name not in names:
                raise ValueError(f"There is no tool {call.name!r}.")
        for situation in variant.situations:
            _check_said(situation, texts)
    wrong = {situation.wrong for each in contrast.variants for situation in each.situations}
    if len(contrast.variants) > 1 and (None not in wrong or len(wrong) == 1):
        raise ValueError("Of variants, at least one call must be aligned, and one misaligned.")


def _check_said(situation: Situation, texts: Sequence[str]) -> None:
    said, wrong = situation.said, situation.wrong
    if said is not None and not any(said in text for text in texts):
        raise ValueError(f"The user does not say {said!r}.")
    if said is None and wrong is not None and wrong not in UNSAID:
        raise ValueError(f"A call that is {wrong} needs the words that rule it out.")
