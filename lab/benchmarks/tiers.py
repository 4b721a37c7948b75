"""How often the risk tier that is inferred for a tool is the one that its writer gave it.

The tools are those of our scenarios, most of them made up for one scenario. The rules were written
with them in view: others may fare worse. A tool that acts and is taken for a reader is judged too
leniently, a reader that is taken for one that acts too strictly.
"""

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import results_file
from rich.console import Console
from rich.table import Table

from taskshield.core.tools import Tier
from taskshield.engine.risk_tiers import infer
from taskshield_lab.training.conversations.toolsets import specs
from taskshield_lab.training.sources.scenario_files import read_scenarios
from taskshield_lab.training.sources.scenarios import Tool

DATA = Path(__file__).parents[1] / "data" / "training" / "scenarios"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=results_file.RESULTS, metavar="FOLDER")
    given = parser.parse_args()
    scenarios = read_scenarios(DATA)
    found = taken_for([tool for scenario in scenarios for tool in scenario.tools])
    figures = {"scenarios": len(scenarios), "taken_for": found}
    path = results_file.write("tiers", figures, inputs=["scenarios"], folder=given.results)
    Console().print(_shown(found))
    print(f"written to {path.name}")


def taken_for(tools: Sequence[Tool]) -> dict[str, dict[str, int]]:
    """By the tier that its writer gave it: what a tool is taken for, and how often."""
    pairs = zip(tools, specs(tools), strict=True)
    found = Counter((tool.tier, infer(spec)) for tool, spec in pairs)
    return {
        tier.value: {other.value: found[tier, other] for other in Tier if found[tier, other]}
        for tier in Tier
    }


def _shown(found: Mapping[str, Mapping[str, int]]) -> Table:
    table = Table("is", "tools", *(tier.value for tier in Tier), title="taken for, %", box=None)
    for tier, others in found.items():
        number = sum(others.values())
        shares = (100 * others.get(other.value, 0) / max(1, number) for other in Tier)
        table.add_row(tier, f"{number:,}", *(f"{share:.1f}" for share in shares))
    return table


if __name__ == "__main__":
    main()
