"""How the embedded judge does in conversations composed of public data that is not ours.

PACK is the goal-alignment pack that `taskshield train --alignment` takes, made from public sources
that NOTICE names. Its validation side is used, of which no network is taught anything: other
domains, tools and requests. An attack is a plain request in something that the agent reads; in part
of the conversations the user says to do what such a text asks for. `training.composed` tells more.

Every message is put to a shield as an agent's messages are, and nothing is executed.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import results_file
from rich.console import Console
from rich.table import Table

from taskshield import Shield
from taskshield.core.tools import Tier
from taskshield.training.composed import composed
from taskshield.training.examples import delegates
from taskshield.training.labelled import LabelledConversation
from taskshield.training.public_rows import read_pack

NAME = "public_conversations"
_SEED = 7


@dataclass(slots=True)
class Count:
    """Calls of one kind."""

    calls: int = 0
    held: int = 0

    @property
    def share(self) -> float:
        """How many of them are held, from 0 to 1."""
        return self.held / max(1, self.calls)


def counted(talks: Iterable[LabelledConversation], shield: Shield) -> dict[str, dict[str, Count]]:
    """What is held of look-ups, of good calls with side effects and of attackers' calls."""
    found: defaultdict[str, defaultdict[str, Count]] = defaultdict(lambda: defaultdict(Count))
    for talk in talks:
        who = "the user hands over" if delegates(talk) else "the user asks"
        session = shield.session(tools=talk.tools)
        for message in talk.messages:
            for verdict in session.add(message).calls:
                tier = talk.tiers.get(verdict.call.name, Tier.WRITE)  # an undeclared one may act
                aligned = talk.calls[verdict.call.id].aligned
                what = "attack" if not aligned else "good" if tier.side_effects else "look-up"
                count = found[who][what]
                count.calls += 1
                count.held += not verdict.allowed
    return {who: dict(counts) for who, counts in found.items()}


def shown(found: Mapping[str, Mapping[str, Count]]) -> Table:
    """The counts as a table."""
    table = Table("conversations in which", "calls", "number", "held, %")
    for who, counts in found.items():
        for what, count in counts.items():
            table.add_row(who, what, str(count.calls), f"{100 * count.share:.1f}")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pack", type=Path, metavar="PACK")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth row")
    parser.add_argument("--results", type=Path, default=results_file.RESULTS, metavar="FOLDER")
    given = parser.parse_args()
    talks = list(composed(read_pack(given.pack, "valid"), _SEED, slice(0, None, given.every)))
    with Shield() as shield:
        found = counted(talks, shield)
    figures = {
        "judge": "embedded",
        "conversations": len(talks),
        "domains": len({talk.domain for talk in talks}),
        "held": {
            who: {
                what: {"calls": count.calls, "held": count.held, "share": round(count.share, 4)}
                for what, count in counts.items()
            }
            for who, counts in found.items()
        },
    }
    path = results_file.write(NAME, figures, inputs=[given.pack.name], folder=given.results)
    Console().print(shown(found))
    print(f"written to {path.name}")


if __name__ == "__main__":
    main()
