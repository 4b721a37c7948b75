"""What the embedded judge holds in labelled conversations: counted, written down and shown.

Every message is put to the shield as an agent's messages are, and nothing is executed.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import results_file
from rich.console import Console
from rich.table import Table

from taskshield import Shield
from taskshield.core.tools import Tier
from taskshield_lab.training.conversations.labelled import LabelledConversation
from taskshield_lab.training.examples.examples import delegates

Counts = Mapping[str, Mapping[str, "Count"]]
"""By kind of conversation, and by what kind of thing is counted."""
Sort = Callable[[LabelledConversation], str]
"""The kind of a conversation."""


@dataclass(slots=True)
class Count:
    """Things of one kind, and how many of them are held."""

    number: int = 0
    held: int = 0

    @property
    def share(self) -> float:
        """How many of them are held, from 0 to 1."""
        return self.held / max(1, self.number)

    def add(self, *, held: bool) -> None:
        """One more."""
        self.number += 1
        self.held += held


def by_who_decides(talk: LabelledConversation) -> str:
    """Whether the user hands authority to somebody."""
    return "the user hands over" if delegates(talk) else "the user asks"


def counted(
    talks: Iterable[LabelledConversation], shield: Shield, sort: Sort = by_who_decides
) -> Counts:
    """What is held of look-ups, good calls with side effects, drift and attackers' calls.

    And in how many conversations without an attacker's call any good one is held.
    """
    found: defaultdict[str, defaultdict[str, Count]] = defaultdict(lambda: defaultdict(Count))
    for talk in talks:
        counts = found[sort(talk)]
        disturbed = False
        session = shield.session(tools=talk.tools)
        for message in talk.messages:
            for verdict in session.add(message).calls:
                held = not verdict.allowed
                counts[_what(talk, verdict.call.name, verdict.call.id)].add(held=held)
                disturbed |= held and talk.calls[verdict.call.id].aligned
        if all(label.kind != "attack" for label in talk.calls.values()):
            counts["conversation without an attack"].add(held=disturbed)
    return {kind: dict(counts) for kind, counts in found.items()}


def _what(talk: LabelledConversation, tool: str, call: str) -> str:
    label = talk.calls[call]
    if not label.aligned:
        return label.kind
    tier = talk.tiers.get(tool, Tier.WRITE)  # an undeclared one may act
    return "good" if tier.side_effects else "look-up"


def report(
    name: str,
    talks: Sequence[LabelledConversation],
    *,
    inputs: list[str],
    folder: Path,
    sort: Sort = by_who_decides,
    **more: object,
) -> None:
    """Ask the embedded judge about conversations; write the counts down and show them.

    Args:
        name: The benchmark's name.
        talks: The conversations.
        inputs: The files that they were made from.
        folder: Where to write to.
        sort: By which kinds of conversations to count.
        more: What else to write down.
    """
    with Shield() as shield:
        found = counted(talks, shield, sort)
    record(name, {**more, **figures(talks, found)}, found, inputs=inputs, folder=folder)


def record(
    name: str,
    told: Mapping[str, object],
    found: Counts,
    *,
    inputs: list[str],
    folder: Path,
    kinds: str = "conversations in which",
) -> None:
    """Write down what is told of counts, and show them; `kinds` heads the first column."""
    path = results_file.write(name, told, inputs=inputs, folder=folder)
    table = Table(kinds, "of", "number", "held, %")
    for kind, counts in found.items():
        for what, count in counts.items():
            table.add_row(kind, what, str(count.number), f"{100 * count.share:.1f}")
    Console().print(table)
    print(f"written to {path.name}")


def figures(talks: Sequence[LabelledConversation], found: Counts) -> dict[str, object]:
    """What is written down about conversations."""
    return {
        "judge": "embedded",
        "conversations": len(talks),
        "domains": len({talk.domain for talk in talks}),
        "held": shares(found),
    }


def shares(found: Counts) -> dict[str, dict[str, dict[str, float]]]:
    """Counts as they are written down."""
    return {
        kind: {
            what: {"number": count.number, "held": count.held, "share": round(count.share, 4)}
            for what, count in counts.items()
        }
        for kind, counts in found.items()
    }
