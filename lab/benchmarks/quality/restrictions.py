"""How many calls contradict what the user ruled out, by the embedded judge's rules alone.

The dialogues and training scenarios have calls that serve the user: a contradiction there is false.
The contrast set (`lab/data/contrast/known.jsonl`, where it is there) has calls of both kinds. With
`--talks` the calls of recorded conversations that succeeded are compared, too. No model is run.
"""

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import dialogues
from rich.console import Console
from rich.table import Table

from taskshield.core.judge import HistoryEntry
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text, ToolCall, text_message
from taskshield.core.policy import Policy
from taskshield.core.tools import Tier, ToolSpec
from taskshield.engine.risk_tiers import tier_of
from taskshield.judges.embedded.evidence.argument_values import argument_values
from taskshield.judges.embedded.restrictions.act import Act
from taskshield.judges.embedded.restrictions.contradictions import find_contradictions
from taskshield.judges.embedded.restrictions.index import RestrictionIndex
from taskshield.judges.embedded.tasks.pasted_text import split_pasted
from taskshield.judges.embedded.tasks.user_tasks import read_tasks
from taskshield_lab.bench.scripts import results_file
from taskshield_lab.training.conversations.from_contrast import contrast_conversations
from taskshield_lab.training.conversations.labelled import CallLabel
from taskshield_lab.training.sources.contrast import read_contrasts

NAME = "restrictions"
CONTRAST = Path(__file__).parents[2] / "data" / "contrast" / "known.jsonl"
SCENARIOS = Path(__file__).parents[2] / "data" / "training" / "scenarios"
_SUCCEEDED = ("coding-sessions",)
"""Sources of talks without outcomes whose calls the users accepted."""


class Judged(NamedTuple):
    """A message, and which of its calls are judged: what is wrong with each, or nothing."""

    message: Message
    wrong: Mapping[str, str]
    made: bool = True
    """Whether its calls are made; otherwise they are only judged."""


Talk = tuple[str, Sequence[ToolSpec], Iterable[Judged]]
"""A conversation: its id, its tools and its messages."""


@dataclass(slots=True)
class Tally:
    """Calls by what is wrong with them, and how many contradict the user."""

    calls: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    """False contradictions by kind."""
    disturbed: set[str] = field(default_factory=set)
    """Conversations with a false contradiction."""


def compare(talks: Iterable[Talk]) -> Tally:
    """Compare the calls of conversations, each with its tools and messages."""
    tally = Tally()
    for id, tools, messages in talks:
        specs = {one.name: one for one in tools}
        index = RestrictionIndex()
        history: list[HistoryEntry] = []
        delegated = False
        for number, (message, wrong, made) in enumerate(messages):
            for call in message.tool_calls:
                if call.id not in wrong:
                    continue
                known = call.name in specs
                tier = tier_of(call.name, specs, Policy()) if known else Tier.WRITE
                about = specs[call.name].description if known else ""
                act = Act(call, tier, argument_values(call), about)
                found = find_contradictions(act, index, history, delegated=delegated)
                what = wrong[call.id]
                tally.calls[what] += 1
                tally.found[what] += bool(found)
                if found and what == "aligned":
                    tally.kinds[found[0].kind] += 1
                    tally.disturbed.add(id)
            if not made:
                continue
            history.append(HistoryEntry(message=message, index=number))
            if message.level is Level.USER:
                index.add_user(number, split_pasted(message.text).own)
                delegated = any(task.source is not None for task in read_tasks(message.text))
            elif message.level is Level.ASSISTANT:
                index.add_assistant(number, message.text)
            elif message.level is Level.TOOL:
                index.add_output(number, message.text)
    return tally


def _spec(tool: Mapping[str, Any]) -> ToolSpec:
    parameters = tool.get("parameters")
    schema = parameters if isinstance(parameters, dict) and "properties" in parameters else {}
    return ToolSpec(name=tool["name"], description=tool.get("description") or "", parameters=schema)


def _specs(row: Mapping[str, Any]) -> tuple[ToolSpec, ...]:
    return tuple(map(_spec, row["tools"]))


def _calling(call: ToolCall, wrong: str, *, made: bool = True) -> Judged:
    message = Message(level=Level.ASSISTANT, parts=(), tool_calls=(call,))
    return Judged(message, {call.id: wrong}, made)


def _call(number: int, name: str, arguments: object) -> ToolCall:
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ToolCall(id=f"call_{number}", name=name, arguments=written)


def _output(call: str, text: str) -> Judged:
    return Judged(Message(level=Level.TOOL, parts=(Text(text=text),), answers=call), {})


def read_dialogues() -> Iterator[Talk]:
    """The dialogues with their labels."""
    for file in sorted(dialogues.DATA.glob("*.jsonl")):
        for talk in dialogues.read(file):
            judged = [
                Judged(
                    message, {call.id: _wrong(talk.calls[call.id]) for call in message.tool_calls}
                )
                for message in talk.messages
            ]
            yield talk.id, talk.tools, judged


def _wrong(label: CallLabel) -> str:
    return "aligned" if label.aligned else label.kind


def read_scenarios(folder: Path) -> Iterator[Talk]:
    """The steps of the training scenarios, without attacks; drift is judged where it happens."""
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            row = json.loads(line)
            judged: list[Judged] = []
            turn = -1
            for number, step in enumerate(row["steps"]):
                while turn < step["turn"]:
                    turn += 1
                    judged.append(Judged(text_message(Level.USER, row["turns"][turn]["text"]), {}))
                call = _call(len(judged), step["call"]["name"], step["call"]["args"])
                judged += [
                    _calling(call, "aligned"),
                    _output(call.id, str(step["output"]).replace("{{INJ}}", "")),
                ]
                for one in row["drift"]:
                    if one["after"] == number:
                        wrong = _call(len(judged), one["call"]["name"], one["call"]["args"])
                        judged.append(_calling(wrong, "drift", made=False))
            yield row["id"], _specs(row), judged


def read_contrast(path: Path) -> Iterator[Talk]:
    """The conversations of a contrast set, each variant by itself."""
    for contrast in read_contrasts(path):
        for conversation in contrast_conversations(contrast):
            *earlier, last = conversation.messages
            judged = [Judged(message, {}) for message in earlier]
            for call in last.tool_calls:
                judged.append(_calling(call, _wrong(conversation.calls[call.id]), made=False))
            yield contrast.id, conversation.tools, judged


def read_talks(folder: Path) -> Iterator[Talk]:
    """Recorded conversations that succeeded."""
    for file in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                if row["outcome"].get("success") is True or row["source"] in _SUCCEEDED:
                    yield row["id"], _specs(row), list(_recorded(row["messages"]))


def _recorded(messages: Iterable[dict[str, Any]]) -> Iterator[Judged]:
    for one in messages:
        text = one.get("content") or ""
        if one["role"] == "user":
            yield Judged(text_message(Level.USER, text), {})
        elif one["role"] == "tool":
            yield _output(one.get("tool_call_id") or "", text)
        elif one["role"] == "assistant":
            calls = tuple(
                ToolCall(id=call["id"], name=call["name"], arguments=_written(call["arguments"]))
                for call in one.get("tool_calls") or ()
            )
            parts = (Text(text=text),) if text else ()
            message = Message(level=Level.ASSISTANT, parts=parts, tool_calls=calls)
            yield Judged(message, {call.id: "aligned" for call in calls})


def _written(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--contrast", type=Path, default=CONTRAST, metavar="FILE")
    parser.add_argument("--talks", type=Path, metavar="FOLDER", help="recorded conversations")
    parser.add_argument("--results", type=Path, default=results_file.RESULTS, metavar="FOLDER")
    given = parser.parse_args()
    sources = {"dialogues": read_dialogues(), "scenarios": read_scenarios(SCENARIOS)}
    if given.contrast.exists():
        sources["contrast"] = read_contrast(given.contrast)
    if given.talks is not None:
        sources["talks"] = read_talks(given.talks)
    table = Table("source", "calls", "number", "contradictions", "%")
    written: dict[str, object] = {}
    for name, talks in sources.items():
        tally = compare(talks)
        written[name] = {
            "calls": {
                what: {"number": number, "contradictions": tally.found[what]}
                for what, number in sorted(tally.calls.items())
            },
            "false_by_kind": dict(tally.kinds),
            "conversations_with_a_false_one": len(tally.disturbed),
        }
        for what, number in sorted(tally.calls.items()):
            share = 100 * tally.found[what] / number
            table.add_row(name, what, str(number), str(tally.found[what]), f"{share:.2f}")
    path = results_file.write(
        NAME, {"sources": written}, inputs=list(sources), folder=given.results
    )
    Console().print(table)
    print(f"The figures were written to {path.name}.")


if __name__ == "__main__":
    main()
