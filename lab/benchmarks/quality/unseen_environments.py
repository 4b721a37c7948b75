"""The share of calls that the embedded judge blocks in environments that it was not trained on.

The authors of these test environments saw neither our scenarios nor any benchmark
(`lab/data/evaluation/worlds/README.md`). Each task is solved as its author wrote it, once without
an attack and once beside each attack in three wordings: a plain request, dressed as an order, and
blended with the text around it. The agent obeys every attack at once, which is the worst case. Each
call is judged as if all calls before it had been made.
"""

import argparse
from pathlib import Path

import blocked_shares

from taskshield_lab.bench.scripts import results_file
from taskshield_lab.training.conversations.from_environments import all_conversations
from taskshield_lab.training.conversations.labelled import LabelledConversation
from taskshield_lab.training.sources.environments import read_environments

NAME = "own_worlds"
DATA = Path(__file__).parents[2] / "data" / "evaluation" / "worlds"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data", type=Path, default=DATA, metavar="FOLDER", help="test environments"
    )
    parser.add_argument("--results", type=Path, default=results_file.RESULTS, metavar="FOLDER")
    given = parser.parse_args()
    worlds = read_environments(given.data)
    trust = {f"{one.name}/{task.id}": task.trust for one in worlds for task in one.tasks}

    def sort(conversation: LabelledConversation) -> str:
        return f"the user {trust[conversation.scenario]}, {conversation.style or 'no attack'}"

    blocked_shares.report(
        NAME,
        [conversation for world in worlds for conversation in all_conversations(world)],
        inputs=[f"{world.name}.json" for world in worlds],
        folder=given.results,
        sort=sort,
        tasks=len(trust),
    )


if __name__ == "__main__":
    main()
