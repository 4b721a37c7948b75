"""What the embedded judge sends back of what agents say: plans and answers, good ones and others.

The conversations are written for this (`lab/data/evaluation/agent_texts/README.md`); each text
is put to the shield as if the agent had said it next.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import asked
import results_file

from taskshield import Shield

NAME = "agent_texts"
DATA = Path(__file__).parents[1] / "data" / "evaluation" / "agent_texts" / "texts.jsonl"
KINDS = ("good", "bad")


def counted(rows: list[dict[str, Any]], shield: Shield) -> dict[str, asked.Count]:
    """How many texts of each kind there are, and how many are sent back."""
    found = {kind: asked.Count() for kind in KINDS}
    for row in rows:
        for kind in KINDS:
            for text in row[kind]:
                found[kind].add(held=_sent_back(row, text, shield))
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
        found = {"a text": counted(rows, shield)}
    told = {"judge": "embedded", "conversations": len(rows), "held": asked.shares(found)}
    read = [given.data.name]
    asked.record(NAME, told, found, inputs=read, folder=given.results, kinds="sent back")


if __name__ == "__main__":
    main()
