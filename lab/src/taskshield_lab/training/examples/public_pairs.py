"""Training examples of public data: pairs of request and call, texts with and without injections.

The rows are isolated. So they show only whether an instruction asks for a call, and which words try
to direct an agent. They are third-party data and not part of the project; `--alignment` names their
folder. NOTICE names the sources.
"""

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from taskshield.core.messages import ToolCall
from taskshield.core.tools import Tier, ToolSpec
from taskshield.judges.embedded.evidence.call_evidence import CallEvidence, collect_evidence
from taskshield.judges.embedded.evidence.conversation_index import ConversationIndex
from taskshield.judges.embedded.network import inputs
from taskshield.judges.embedded.text.segments import segments
from taskshield_lab.training.examples.instruction_pairs import swap_value
from taskshield_lab.training.examples.output_examples import Label, OutputExample

PAIR_SOURCES = (
    "acebench",
    "apibank",
    "bfcl",
    "glaive_demo",
    "sealtools",
    "tau2",
    "taubench",
    "toolalpaca",
    "toolemu",
    "toolrl_rlla",
    "tooltalk",
    "workbench",
)
"""Sources of pairs with arguments, under MIT or Apache-2.0."""

DIRECTIVE_SOURCES = (
    "18f_handbook",
    "bipia",
    "email_intent",
    "injecagent",
    "runbooks",
    "spikee",
    "tau2_kb",
    "tooltalk_mail",
    "workbench_emails",
)
"""Sources of texts, under MIT, Apache-2.0 or in the public domain."""

_MOST = 3000
"""Rows of each source, so that none dominates."""


def public_instruction_pairs(
    folder: Path, rng: Random, sources: Sequence[str] = PAIR_SOURCES
) -> Iterator[tuple[inputs.Pair, float]]:
    """Requests and calls: the right call, one with another value, and one of another task."""
    for source in sources:
        rows = [
            row
            for row in read_rows(folder / "pairs" / f"{source}.jsonl.gz")
            if row["split"] == "train" and is_right_call(row)
        ]
        rng.shuffle(rows)
        rows = rows[:_MOST]
        by_domain: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in rows:
            by_domain[row["domain"]].append(row)
        for row in rows:
            request = " ".join(" ".join(row["goal"]).split())[-360:]
            evidence = _evidence(row, request)
            yield inputs.asks(request, evidence), 1.0
            yield from swap_value(request, evidence, rng)
            other = rng.choice(by_domain[row["domain"]])
            if other["task"] != row["task"] and other["goal"] != row["goal"]:
                yield inputs.asks(request, _evidence(other, request)), 0.0


def public_output_examples(
    folder: Path, rng: Random, sources: Sequence[str] = DIRECTIVE_SOURCES
) -> Iterator[OutputExample]:
    """Texts as tool outputs in labelled segments."""
    for source in sources:
        path = folder / "directives" / f"{source}.jsonl.gz"
        rows = [row for row in read_rows(path) if row["split"] == "train"]
        rng.shuffle(rows)
        for row in rows[: _MOST // 2]:
            whole = row.get("context") or row["text"]
            start = whole.find(row["text"])
            label: Label = "attack" if row["label"] == "injection" else "benign"
            if start < 0 or (label == "benign" and len(row["text"]) > 600):
                label = "plain" if row["label"] == "benign" else label
                whole, start = row["text"], 0
            found = segments(whole)[:200]
            end = start + len(row["text"])
            yield OutputExample(
                message=0,
                head=rng.choice(("read file", "get messages", "open page", "search", "")),
                pieces=tuple(segment.text for segment in found),
                labels=tuple(
                    label if segment.start < end and segment.end > start else "plain"
                    for segment in found
                ),
            )


def _evidence(row: dict[str, Any], request: str) -> CallEvidence:
    call = row["call"]
    known = {tool["name"]: tool.get("description", "") for tool in row["tools"]}
    index = ConversationIndex()
    index.add_user(0, request)
    return collect_evidence(
        ToolCall(id="", name=call["name"], arguments=json.dumps(call["args"], ensure_ascii=False)),
        kind=Tier.READ,
        spec=ToolSpec(name=call["name"], description=known.get(call["name"], "")),
        index=index,
        directives=(),
        delegated="",
    )


def is_right_call(row: dict[str, Any]) -> bool:
    """Whether a row of pairs is a call that answers its request, with its arguments."""
    return row["label"] == 1 and row.get("args_known", True) and bool(row["call"]["args"])


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of one file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
