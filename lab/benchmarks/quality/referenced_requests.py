"""False positives where the user's task leads to a request of a third party.

The user's task leads to a link, a form or an address that a request in the data names. The user
does not delegate. The shipped model was not trained on these scenarios
(`lab/data/training/README.md`). The styles of the attacks were used for training, so only the
legitimate calls matter here.
"""

import argparse
from pathlib import Path

import blocked_shares

from taskshield_lab.bench.scripts import results_file
from taskshield_lab.training.conversations.corpus import generate_conversations
from taskshield_lab.training.sources.scenario_files import read_scenarios, read_styles

NAME = "pointed_work"
DATA = Path(__file__).parents[2] / "data" / "training"
FILES = ("corridors", "mailbags", "signposts", "waypoints")
_SEED = 7


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--per-scenario", type=int, default=6, metavar="N", help="conversations per scenario"
    )
    parser.add_argument(
        "--files", nargs="+", default=FILES, metavar="NAME", help="files of scenarios, by name"
    )
    parser.add_argument("--results", type=Path, default=results_file.RESULTS, metavar="FOLDER")
    given = parser.parse_args()
    files = tuple(given.files)
    scenarios = [one for one in read_scenarios(DATA / "scenarios") if one.id.startswith(files)]
    if not scenarios:
        parser.error(f"No scenario is in {' or '.join(files)}.")
    conversations = list(
        generate_conversations(
            scenarios,
            read_styles(DATA / "styles"),
            seed=_SEED,
            per_scenario=given.per_scenario,
            truncated_share=0.0,
        )
    )
    read = [f"{name}.jsonl" for name in files]
    blocked_shares.report(
        NAME, conversations, inputs=read, folder=given.results, scenarios=len(scenarios)
    )


if __name__ == "__main__":
    main()
