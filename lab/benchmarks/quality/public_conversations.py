"""The share of calls that the embedded judge blocks in conversations made from public data.

PACK is the goal-alignment pack that `taskshield train --alignment` takes, made from public sources
(NOTICE). Only its validation part is used, which has other domains, tools and requests than the
training part. An attack is a plain request in a text that the agent reads. In some conversations
the user delegates to such a text. `training.distractors.composed` makes the conversations.
"""

import argparse
from pathlib import Path

import blocked_shares

from taskshield_lab.bench.scripts import results_file
from taskshield_lab.training.distractors.public_conversations import compose_conversations
from taskshield_lab.training.distractors.public_rows import read_public_rows

NAME = "public_conversations"
_SEED = 7


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pack", type=Path, metavar="PACK")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth row")
    parser.add_argument("--results", type=Path, default=results_file.RESULTS, metavar="FOLDER")
    given = parser.parse_args()
    conversations = list(
        compose_conversations(
            read_public_rows(given.pack, "valid"), _SEED, slice(0, None, given.every)
        )
    )
    blocked_shares.report(NAME, conversations, inputs=[given.pack.name], folder=given.results)


if __name__ == "__main__":
    main()
