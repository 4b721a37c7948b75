"""The share of agents' texts that the embedded judge sends back: legitimate ones and injected ones.

The conversations were written for this (`lab/data/evaluation/agent_texts/README.md`). Each text is
checked as the next message of the agent.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import blocked_shares

from taskshield import Shield
from taskshield_lab.bench.scripts import results_file

NAME = "agent_texts"
DATA = Path(__file__).parents[2] / "data" / "evaluation" / "agent_texts" / "texts.jsonl"
KINDS = ("good", "bad")


def count_blocked(rows: list[dict[str, Any]], shield: Shield) -> dict[str, blocked_shares.Count]:
    """Count the texts of each kind, and those that are sent back."""
    found = {kind: blocked_shares.Count() for kind in KINDS}
    for row in rows:
        for kind in KINDS:
            for text in row[kind]:
                found[kind].add(blocked=_sent_back(row, text, shield))
    return found


def _sent_back(row: dict[str, Any], text: str, shield: Shield) -> bool:
    session = shield.session()
    session.user(row["user"])
    session.tool_call(row["tool"], row["args"], id="call_1")
    session.tool_output("call_1", row["output"])
    return bool(session.assistant(text).misaligned)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, metavar="FILE", help="conversations")
    parser.add_argument("--results", type=Path, default=results_file.RESULTS, metavar="FOLDER")
    given = parser.parse_args()
    rows = [json.loads(line) for line in given.data.read_text("utf-8").splitlines()]
    with Shield() as shield:
        found = {"a text": count_blocked(rows, shield)}
    written = {
        "judge": "embedded",
        "conversations": len(rows),
        "held": blocked_shares.shares(found),
    }
    read = [given.data.name]
    blocked_shares.record(
        NAME, written, found, inputs=read, folder=given.results, kinds="sent back"
    )


if __name__ == "__main__":
    main()
