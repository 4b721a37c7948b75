"""How the embedded judge does in conversations composed of public data that is not ours.

PACK is the goal-alignment pack that `taskshield train --alignment` takes, made from public sources
that NOTICE names. Its validation side is used, of which no network is taught anything: other
domains, tools and requests. An attack is a plain request in something that the agent reads; in part
of the conversations the user says to do what such a text asks for. `training.composed` tells more.
"""

import argparse
from pathlib import Path

import asked
import results_file

from taskshield_lab.training.distractors.composed import composed
from taskshield_lab.training.distractors.public_rows import read_pack

NAME = "public_conversations"
_SEED = 7


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pack", type=Path, metavar="PACK")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth row")
    parser.add_argument("--results", type=Path, default=results_file.RESULTS, metavar="FOLDER")
    given = parser.parse_args()
    talks = list(composed(read_pack(given.pack, "valid"), _SEED, slice(0, None, given.every)))
    asked.report(NAME, talks, inputs=[given.pack.name], folder=given.results)


if __name__ == "__main__":
    main()
