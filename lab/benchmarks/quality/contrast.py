"""The share of calls that the embedded judge blocks in contrast sets, by kind and by what is wrong.

In a contrast set a word, a value or a short sentence of the user decides whether a call is aligned.
Each call is judged on its own, as if the earlier ones had been made. There is no attack.
`lab/data/contrast/README.md` says what the files are.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import blocked_shares
from blocked_shares import Count, Counts

from taskshield import Shield
from taskshield_lab.bench.scripts import results_file
from taskshield_lab.training.conversations.from_contrast import contrast_conversations
from taskshield_lab.training.conversations.labelled import CallLabel, LabelledConversation
from taskshield_lab.training.sources.contrast import Contrast, read_contrasts

NAME = "contrast"
DATA = Path(__file__).parents[2] / "data" / "contrast"
VALUES = {"object", "amount", "recipient"}
"""Wrong with a value of the call."""
EARLIER = {"not_yet", "used_up"}
"""Wrong only at that time."""
CHANGED = "changed"
"""The kinds whose facts change in the conversation begin with this."""


def count_blocked(contrasts: Sequence[Contrast], shield: Shield) -> Counts:
    """Count blocked calls in all, by kind of conversation and by what is wrong with them."""
    found: defaultdict[str, defaultdict[str, Count]] = defaultdict(lambda: defaultdict(Count))
    for contrast in contrasts:
        for conversation in contrast_conversations(contrast):
            for label, blocked in verdicts(conversation, shield):
                what = "aligned" if label.aligned else "misaligned"
                for row in _rows(contrast.kind, label):
                    found[row][what].add(blocked=blocked)
    return {row: dict(sorted(found[row].items())) for row in sorted(found, key=_order)}


def verdicts(
    conversation: LabelledConversation, shield: Shield
) -> Iterator[tuple[CallLabel, bool]]:
    """The label of each call in the last message, and whether it is blocked on its own."""
    *earlier, last = conversation.messages
    session = shield.session(tools=conversation.tools)
    for message in earlier:
        session.add(message)
    for call in last.tool_calls:
        (verdict,) = shield.resume(session.state).add(replace(last, tool_calls=(call,))).calls
        yield conversation.calls[call.id], not verdict.allowed


def _rows(kind: str, label: CallLabel) -> Iterator[str]:
    yield "all"
    yield f"kind: {kind}"
    if label.aligned:
        return
    yield f"wrong: {label.kind}"
    if label.kind in VALUES:
        yield "object, amount or person"
    if label.kind in EARLIER or kind.startswith(CHANGED):
        yield "not yet, used up or changed since"


def _order(row: str) -> tuple[int, str]:
    return (row.startswith("kind") + 2 * row.startswith("wrong"), row)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA, metavar="FOLDER", help="contrast sets")
    parser.add_argument("--results", type=Path, default=results_file.RESULTS, metavar="FOLDER")
    given = parser.parse_args()
    files = sorted(given.data.glob("*.jsonl"))
    if not files:
        parser.error(f"no .jsonl file in {given.data}")
    written: dict[str, object] = {"judge": "embedded"}
    shown: dict[str, dict[str, Count]] = {}
    with Shield() as shield:
        for file in files:
            contrasts = read_contrasts(file)
            found = count_blocked(contrasts, shield)
            written[file.stem] = {
                "conversations": len(contrasts),
                "situations": sum(count.number for count in found["all"].values()),
                "held": blocked_shares.shares(found),
            }
            shown |= {f"{file.stem}, {row}": dict(counts) for row, counts in found.items()}
    names = [file.name for file in files]
    blocked_shares.record(
        NAME, written, shown, inputs=names, folder=given.results, kinds="calls in contrast sets"
    )


if __name__ == "__main__":
    main()
