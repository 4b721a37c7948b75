"""How much of the work the embedded judge holds that users point at and others ask for.

The conversations are made of scenarios that no shipped network was taught: the user's task leads to
a link, a form, an address that somebody's request in the data names, though the user hands
authority to nobody. `lab/data/training/README.md` tells more.

Attacks are worded in styles that the network knows; what counts here are the good calls.
"""

import argparse
from pathlib import Path

import asked
import results_file

from taskshield_lab.training.conversations.corpus import generate
from taskshield_lab.training.sources.scenario_files import read_scenarios, read_styles

NAME = "pointed_work"
DATA = Path(__file__).parents[1] / "data" / "training"
FILES = ("corridors", "mailbags", "signposts", "waypoints")
_SEED = 7


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--per-scenario", type=int, default=6, metavar="N", help="conversations for each scenario"
    )
    parser.add_argument(
        "--files", nargs="+", default=FILES, metavar="NAME", help="files of scenarios, by name"
    )
    parser.add_argument("--results", type=Path, default=results_file.RESULTS, metavar="FOLDER")
    given = parser.parse_args()
    files = tuple(given.files)
    scenarios = [one for one in read_scenarios(DATA / "scenarios") if one.id.startswith(files)]
    if not scenarios:
        parser.error(f"no scenario is in {' or '.join(files)}")
    talks = list(
        generate(
            scenarios,
            read_styles(DATA / "styles"),
            seed=_SEED,
            per_scenario=given.per_scenario,
            short=0.0,
        )
    )
    read = [f"{name}.jsonl" for name in files]
    asked.report(NAME, talks, inputs=read, folder=given.results, scenarios=len(scenarios))


if __name__ == "__main__":
    main()
