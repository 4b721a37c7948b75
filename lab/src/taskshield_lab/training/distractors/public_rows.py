"""The rows of public data that conversations are composed of, one side of them at a time."""

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Literal

from taskshield.core.policy import Policy
from taskshield.core.tools import Tier, ToolSpec
from taskshield.engine.risk_tiers import tier_of
from taskshield_lab.training.distractors.insertion import READABLE, in_one_string
from taskshield_lab.training.distractors.neutral_sentences import statements
from taskshield_lab.training.examples.public_pairs import is_right_call, read_rows

Row = dict[str, Any]
Side = Literal["train", "valid"]

_REQUESTS = (
    "acebench",
    "apibank",
    "bfcl",
    "glaive_demo",
    "sealtools",
    "toolalpaca",
    "toolemu",
    "toolrl_rlla",
    "tooltalk",
    "workbench",
)
"""Sources of pairs in which users speak for themselves, under MIT or Apache-2.0."""
_TEXTS = (
    "18f_handbook",
    "email_intent",
    "runbooks",
    "tau2_kb",
    "tooltalk_mail",
    "workbench_emails",
)
"""Sources of texts that tools may return."""
_SAYING = ("bipia",)
"""Sources of sentences that ask for nothing, beside those texts."""

_MOST_ROWS, _MOST_TEXTS = 3000, 600
"""Taken of one source, so that none of them sets the tone."""
_LONGEST_REQUEST, _LONGEST_WISH, _LONGEST_TEXT = 900, 330, 1500
_LONG_NUMBER = re.compile(r"\d{6,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """One side of the public data, as far as conversations can be composed of it."""

    side: Side
    rows: Sequence[Row]
    wishes: Sequence[Row]
    """Rows whose call has side effects and whose request is short and complete in itself."""
    near: Mapping[str, Sequence[Row]]
    """The wishes by domain."""
    texts: Sequence[str]
    statements: Sequence[str]
    """Sentences that ask for nothing, of these texts and others."""


def read_pack(folder: Path, side: Side) -> Pack:
    """One side of the pack in this folder; the same rows whoever reads it."""
    rows: list[Row] = []
    for source in _REQUESTS:
        found = [
            row
            for row in read_rows(folder / "pairs" / f"{source}.jsonl.gz")
            if row["split"] == side and _is_usable(row)
        ]
        rows += _some(found, _MOST_ROWS, source)
    wishes = [row for row in rows if _is_wish(row)]
    near: defaultdict[str, list[Row]] = defaultdict(list)
    for row in wishes:
        near[row["domain"]].append(row)
    texts = _harmless(folder, _TEXTS, side)
    return Pack(
        side=side,
        rows=rows,
        wishes=wishes,
        near=near,
        texts=texts,
        statements=statements([*texts, *_harmless(folder, _SAYING, side)]),
    )


def _harmless(folder: Path, sources: Sequence[str], side: Side) -> list[str]:
    """Texts in which nobody has planted anything."""
    texts: list[str] = []
    for source in sources:
        found = [
            row
            for row in read_rows(folder / "directives" / f"{source}.jsonl.gz")
            if row["split"] == side and row["label"] == "benign"
        ]
        chosen = _some(found, _MOST_TEXTS, source)
        whole = [(row.get("context") or row["text"])[:_LONGEST_TEXT] for row in chosen]
        texts += [text for text in whole if len(text) >= READABLE]
    return texts


def _some(rows: list[Row], most: int, source: str) -> list[Row]:
    Random(source).shuffle(rows)
    return rows[:most]


def _is_usable(row: Row) -> bool:
    """Whether a row is a right call with values that its conversation explains."""
    if not is_right_call(row):
        return False
    told = " ".join((*row["goal"], *(past["text"] for past in row["history"])))
    given = _LONG_NUMBER.findall(json.dumps(row["call"]["args"]))
    return len(" ".join(row["goal"])) <= _LONGEST_REQUEST and all(one in told for one in given)


def _is_wish(row: Row) -> bool:
    short = len(row["goal"]) == 1 and len(wish_of(row)) <= _LONGEST_WISH
    heard = any(past["role"] == "tool" for past in row["history"])
    return short and not heard and tier_of_call(row).side_effects


def wish_of(row: Row) -> str:
    """What a row asks for, in one line that can be planted."""
    return in_one_string(" ".join(row["goal"][0].split()))


def tier_of_call(row: Row) -> Tier:
    """The risk tier of a row's call, as it is inferred in use."""
    tools = {tool.name: tool for tool in specs_of(row)}
    return tier_of(row["call"]["name"], tools, Policy())


def specs_of(row: Row) -> tuple[ToolSpec, ...]:
    """The tools that a row offers."""
    return tuple(
        ToolSpec(name=tool["name"], description=tool.get("description", ""))
        for tool in row["tools"]
    )
