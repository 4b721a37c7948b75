"""How the embedded judge does in worlds that nothing of ours was taught with.

Their author knew neither our scenarios nor any benchmark
(`lab/data/evaluation/worlds/README.md`). Each task is done as its author says, by itself and
beside every attack in three wordings (a plain request, one that is dressed as an order, one that is
blended with what stands around it), which the agent obeys at once: the worst case. Calls are judged
as if all before them had been made.
"""

import argparse
from pathlib import Path

import asked
import results_file

from taskshield_lab.training.conversations.from_worlds import conversations
from taskshield_lab.training.conversations.labelled import LabelledConversation
from taskshield_lab.training.sources.worlds import read_worlds

NAME = "own_worlds"
DATA = Path(__file__).parents[1] / "data" / "evaluation" / "worlds"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, metavar="FOLDER", help="worlds")
    parser.add_argument("--results", type=Path, default=results_file.RESULTS, metavar="FOLDER")
    given = parser.parse_args()
    worlds = read_worlds(given.data)
    trust = {f"{one.name}/{task.id}": task.trust for one in worlds for task in one.tasks}

    def sort(talk: LabelledConversation) -> str:
        return f"the user {trust[talk.scenario]}, {talk.style or 'no attack'}"

    asked.report(
        NAME,
        [talk for world in worlds for talk in conversations(world)],
        inputs=[f"{world.name}.json" for world in worlds],
        folder=given.results,
        sort=sort,
        tasks=len(trust),
    )


if __name__ == "__main__":
    main()
