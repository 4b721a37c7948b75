"""Reads the rows of public data that conversations are composed of."""

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
from taskshield_lab.training.distractors.insertion import MIN_LENGTH, in_one_string
from taskshield_lab.training.distractors.neutral_sentences import find_neutral_sentences
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
"""Sources of requests in users' own words, under MIT or Apache-2.0."""
_TEXTS = (
    "18f_handbook",
    "email_intent",
    "runbooks",
    "tau2_kb",
    "tooltalk_mail",
    "workbench_emails",
)
"""Sources of texts that tools may return."""
_SENTENCES = ("bipia",)
"""Further sources of neutral sentences."""

_MOST_ROWS, _MOST_TEXTS = 3000, 600
"""Limits for each source, so that none dominates."""
_LONGEST_REQUEST, _LONGEST_INSERTED, _LONGEST_TEXT = 900, 330, 1500
_LONG_NUMBER = re.compile(r"\d{6,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicRows:
    """One side of the public data, without rows that are of no use in a conversation."""

    side: Side
    rows: Sequence[Row]
    requests: Sequence[Row]
    """Rows whose call has side effects and whose request is short and complete in itself."""
    requests_by_domain: Mapping[str, Sequence[Row]]
    texts: Sequence[str]
    neutral_sentences: Sequence[str]
    """Sentences of these texts and others that ask for nothing."""


def read_public_rows(folder: Path, side: Side) -> PublicRows:
    """One side of the public data in this folder, always the same rows."""
    rows: list[Row] = []
    for source in _REQUESTS:
        found = [
            row
            for row in read_rows(folder / "pairs" / f"{source}.jsonl.gz")
            if row["split"] == side and _is_usable(row)
        ]
        rows += _some(found, _MOST_ROWS, source)
    requests = [row for row in rows if _is_request(row)]
    by_domain: defaultdict[str, list[Row]] = defaultdict(list)
    for row in requests:
        by_domain[row["domain"]].append(row)
    texts = _harmless(folder, _TEXTS, side)
    return PublicRows(
        side=side,
        rows=rows,
        requests=requests,
        requests_by_domain=by_domain,
        texts=texts,
        neutral_sentences=find_neutral_sentences([*texts, *_harmless(folder, _SENTENCES, side)]),
    )


def _harmless(folder: Path, sources: Sequence[str], side: Side) -> list[str]:
    """Texts without an injection."""
    texts: list[str] = []
    for source in sources:
        found = [
            row
            for row in read_rows(folder / "directives" / f"{source}.jsonl.gz")
            if row["split"] == side and row["label"] == "benign"
        ]
        chosen = _some(found, _MOST_TEXTS, source)
        whole = [(row.get("context") or row["text"])[:_LONGEST_TEXT] for row in chosen]
        texts += [text for text in whole if len(text) >= MIN_LENGTH]
    return texts


def _some(rows: list[Row], most: int, source: str) -> list[Row]:
    Random(source).shuffle(rows)
    return rows[:most]


def _is_usable(row: Row) -> bool:
    """Whether a row is a right call with values that its conversation has."""
    if not is_right_call(row):
        return False
    said = " ".join((*row["goal"], *(past["text"] for past in row["history"])))
    given = _LONG_NUMBER.findall(json.dumps(row["call"]["args"]))
    return len(" ".join(row["goal"])) <= _LONGEST_REQUEST and all(one in said for one in given)


def _is_request(row: Row) -> bool:
    short = len(row["goal"]) == 1 and len(request_of(row)) <= _LONGEST_INSERTED
    has_output = any(past["role"] == "tool" for past in row["history"])
    return short and not has_output and tier_of_call(row).side_effects


def request_of(row: Row) -> str:
    """The request of a row as one line that can be inserted."""
    return in_one_string(" ".join(row["goal"][0].split()))


def tier_of_call(row: Row) -> Tier:
    """The risk tier of a row's call as inferred in use."""
    tools = {tool.name: tool for tool in specs_of(row)}
    return tier_of(row["call"]["name"], tools, Policy())


def specs_of(row: Row) -> tuple[ToolSpec, ...]:
    """The tools of a row."""
    return tuple(
        ToolSpec(name=tool["name"], description=tool.get("description", ""))
        for tool in row["tools"]
    )
