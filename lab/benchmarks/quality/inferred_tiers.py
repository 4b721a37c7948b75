"""How often the risk tier inferred for a tool is the labelled one.

The tools are those of our scenarios, and the rules were written with them in view, so other tools
may do worse. A tool with side effects that is taken for a read tool is judged too leniently, and a
read tool that is taken for one with side effects too strictly.
"""

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from taskshield.core.tools import Tier
from taskshield.engine.risk_tiers import infer
from taskshield_lab.bench.scripts import results_file
from taskshield_lab.training.conversations.toolsets import tool_specs
from taskshield_lab.training.sources.scenario_files import read_scenarios
from taskshield_lab.training.sources.scenarios import Tool

DATA = Path(__file__).parents[2] / "data" / "training" / "scenarios"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=results_file.RESULTS, metavar="FOLDER")
    given = parser.parse_args()
    scenarios = read_scenarios(DATA)
    found = taken_for([tool for scenario in scenarios for tool in scenario.tools])
    figures = {"scenarios": len(scenarios), "taken_for": found}
    path = results_file.write("tiers", figures, inputs=["scenarios"], folder=given.results)
    Console().print(_shown(found))
    print(f"The figures were written to {path.name}.")


def taken_for(tools: Sequence[Tool]) -> dict[str, dict[str, int]]:
    """By labelled tier: the inferred tiers with their counts."""
    pairs = zip(tools, tool_specs(tools), strict=True)
    found = Counter((tool.tier, infer(spec)) for tool, spec in pairs)
    return {
        tier.value: {other.value: found[tier, other] for other in Tier if found[tier, other]}
        for tier in Tier
    }


def _shown(found: Mapping[str, Mapping[str, int]]) -> Table:
    table = Table("tier", "tools", *(tier.value for tier in Tier), title="inferred, %", box=None)
    for tier, others in found.items():
        number = sum(others.values())
        shares = (100 * others.get(other.value, 0) / max(1, number) for other in Tier)
        table.add_row(tier, f"{number:,}", *(f"{share:.1f}" for share in shares))
    return table


if __name__ == "__main__":
    main()
