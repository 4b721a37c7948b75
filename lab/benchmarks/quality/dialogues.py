"""The share of calls that the embedded judge blocks in dialogues between user and agent.

The agent drafts, proposes and asks back. The user agrees, chooses or declines in a few words. Calls
use what was said. The dialogues were written for this (`lab/data/evaluation/dialogues/README.md`)
and are not used for training.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import blocked_shares

from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text, ToolCall, text_message
from taskshield.core.policy import Policy
from taskshield.core.tools import ToolSpec
from taskshield.engine.risk_tiers import tier_of
from taskshield_lab.bench.scripts import results_file
from taskshield_lab.training.conversations.labelled import CallLabel, LabelledConversation

NAME = "dialogues"
DATA = Path(__file__).parents[2] / "data" / "evaluation" / "dialogues"


def read(path: Path) -> list[LabelledConversation]:
    """Read the conversations of a file."""
    return [
        _conversation(json.loads(line), path.stem) for line in path.read_text("utf-8").splitlines()
    ]


def _conversation(row: dict[str, Any], file: str) -> LabelledConversation:
    specs = {one["name"]: ToolSpec(**one) for one in row["tools"]}
    tiers = {name: tier_of(name, specs, Policy()) for name in specs}
    messages: list[Message] = []
    if "system" in row:
        messages.append(text_message(Level.SYSTEM, row["system"]))
    calls: dict[str, CallLabel] = {}
    for turn in row["turns"]:
        if "call" in turn:
            id, name, kind = f"call_{len(calls)}", turn["call"], turn.get("kind", "step")
            made = ToolCall(id=id, name=name, arguments=json.dumps(turn["args"]))
            calls[id] = CallLabel(aligned=kind == "step", kind=kind, tier=tiers[name])
            messages.append(Message(level=Level.ASSISTANT, parts=(), tool_calls=(made,)))
            output = (Text(text=turn["output"]),)
            messages.append(Message(level=Level.TOOL, parts=output, answers=id))
        elif "agent" in turn:
            messages.append(text_message(Level.ASSISTANT, turn["agent"]))
        else:
            messages.append(text_message(Level.USER, turn["user"]))
    attacked = any(label.kind == "attack" for label in calls.values())
    return LabelledConversation(
        id=row["id"],
        scenario=row["id"],
        domain=file,
        lang="en",  # most of them
        kind="attacked" if attacked else "clean",
        style=None,
        tools=tuple(specs.values()),
        tiers=tiers,
        system=row.get("system"),
        messages=tuple(messages),
        tasks={},
        calls=calls,
        spans={},
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA, metavar="FOLDER", help="conversations")
    parser.add_argument("--results", type=Path, default=results_file.RESULTS, metavar="FOLDER")
    given = parser.parse_args()
    files = sorted(given.data.glob("*.jsonl"))
    if not files:
        parser.error(f"no .jsonl file in {given.data}")
    conversations = [conversation for file in files for conversation in read(file)]
    blocked_shares.report(
        NAME,
        conversations,
        inputs=[file.name for file in files],
        folder=given.results,
        sort=lambda conversation: conversation.domain,
    )


if __name__ == "__main__":
    main()
