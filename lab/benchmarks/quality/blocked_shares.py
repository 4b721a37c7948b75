"""Counts what the embedded judge blocks in labelled conversations, and writes the shares.

The shield checks every message. Nothing is executed.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from taskshield import Shield
from taskshield.core.tools import Tier
from taskshield_lab.bench.scripts import results_file
from taskshield_lab.training.conversations.labelled import LabelledConversation, is_delegating

Counts = Mapping[str, Mapping[str, "Count"]]
"""By kind of conversation, and by kind of call."""
Sort = Callable[[LabelledConversation], str]
"""The kind of a conversation."""


@dataclass(slots=True)
class Count:
    """A number of calls, texts or conversations, and how many of them are blocked."""

    number: int = 0
    blocked: int = 0

    @property
    def share(self) -> float:
        """The blocked share, from 0 to 1."""
        return self.blocked / max(1, self.number)

    def add(self, *, blocked: bool) -> None:
        """Count one more."""
        self.number += 1
        self.blocked += blocked


def delegation_kind(conversation: LabelledConversation) -> str:
    """Whether the user delegates in a conversation."""
    return "the user hands over" if is_delegating(conversation) else "the user asks"


def count_blocked(
    conversations: Iterable[LabelledConversation], shield: Shield, sort: Sort = delegation_kind
) -> Counts:
    """Count blocked read calls, legitimate calls with side effects, drift and attackers' calls.

    Also count the conversations without an attack in which a legitimate call is blocked.
    """
    found: defaultdict[str, defaultdict[str, Count]] = defaultdict(lambda: defaultdict(Count))
    for conversation in conversations:
        counts = found[sort(conversation)]
        disturbed = False
        session = shield.session(tools=conversation.tools)
        for message in conversation.messages:
            for verdict in session.add(message).calls:
                blocked = not verdict.allowed
                counts[_what(conversation, verdict.call.name, verdict.call.id)].add(blocked=blocked)
                disturbed |= blocked and conversation.calls[verdict.call.id].aligned
        if all(label.kind != "attack" for label in conversation.calls.values()):
            counts["conversation without an attack"].add(blocked=disturbed)
    return {kind: dict(counts) for kind, counts in found.items()}


def _what(conversation: LabelledConversation, tool: str, call: str) -> str:
    label = conversation.calls[call]
    if not label.aligned:
        return label.kind
    tier = conversation.tiers.get(tool, Tier.WRITE)  # an undeclared tool may have side effects
    return "good" if tier.side_effects else "look-up"


def report(
    name: str,
    conversations: Sequence[LabelledConversation],
    *,
    inputs: list[str],
    folder: Path,
    sort: Sort = delegation_kind,
    **more: object,
) -> None:
    """Check conversations with the embedded judge, write the counts and print them.

    Args:
        name: The benchmark's name.
        conversations: The conversations.
        inputs: The files of the conversations.
        folder: The folder of the results.
        sort: Gives the kind of a conversation.
        more: Further fields of the results.
    """
    with Shield() as shield:
        found = count_blocked(conversations, shield, sort)
    record(name, {**more, **figures(conversations, found)}, found, inputs=inputs, folder=folder)


def record(
    name: str,
    written: Mapping[str, object],
    found: Counts,
    *,
    inputs: list[str],
    folder: Path,
    kinds: str = "conversations in which",
) -> None:
    """Write results and print the counts. `kinds` is the title of the first column."""
    path = results_file.write(name, written, inputs=inputs, folder=folder)
    table = Table(kinds, "of", "number", "blocked, %")
    for kind, counts in found.items():
        for what, count in counts.items():
            table.add_row(kind, what, str(count.number), f"{100 * count.share:.1f}")
    Console().print(table)
    print(f"The figures were written to {path.name}.")


def figures(conversations: Sequence[LabelledConversation], found: Counts) -> dict[str, object]:
    """The results for conversations."""
    return {
        "judge": "embedded",
        "conversations": len(conversations),
        "domains": len({conversation.domain for conversation in conversations}),
        "held": shares(found),
    }


def shares(found: Counts) -> dict[str, dict[str, dict[str, float]]]:
    """Counts as they are stored. The stored key of blocked things is "held"."""
    return {
        kind: {
            what: {"number": count.number, "held": count.blocked, "share": round(count.share, 4)}
            for what, count in counts.items()
        }
        for kind, counts in found.items()
    }
