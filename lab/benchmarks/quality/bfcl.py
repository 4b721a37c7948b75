"""False positives of the embedded judge in a public suite without attacks.

The multi-turn conversations of the Berkeley Function-Calling Leaderboard (Apache-2.0; the PyPI
package bfcl-eval): users of file systems, messengers, ticket toolss, trading accounts, travel
agencies and cars, with the calls of its answer key. Its own simulations of these tools are run for
the outputs, so you must trust the package. Unpack it, do not install it:

    pip download --no-deps bfcl-eval && python -m zipfile -e bfcl_eval-*.whl FOLDER

The model was trained on some of its requests, each with one call (NOTICE).
"""

import argparse
import ast
import importlib
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import blocked_shares

from taskshield import Shield
from taskshield.core.tools import ToolSpec
from taskshield_lab.bench.scripts import results_file

NAME = "bfcl"
PARTS = ("multi_turn_base", "multi_turn_long_context")
SIMULATIONS = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "TwitterAPI": "posting_api",
    "VehicleControlAPI": "vehicle_control",
}
"""By class, the name of its module and of the file with its tools."""
Row = dict[str, Any]


class SimulatedTools:
    """The simulated tools of one conversation."""

    def __init__(self, row: Row, data: Path, *, long: bool) -> None:
        self.tools: list[ToolSpec] = []
        self._simulations: list[Any] = []
        for name in row["involved_classes"]:
            file = SIMULATIONS[name]
            self.tools += _declared(data / "multi_turn_func_doc" / file)
            package = f"bfcl_eval.eval_checker.multi_turn_eval.func_source_code.{file}"
            simulation = getattr(importlib.import_module(package), name)()
            if hasattr(simulation, "_load_scenario"):
                simulation._load_scenario(row["initial_config"].get(name, {}), long_context=long)
            self._simulations.append(simulation)

    def call(self, written: str) -> tuple[str, dict[str, Any]]:
        """A call of the answer key, `tool('a', b=1)`, as name and arguments."""
        found = ast.parse(written, mode="eval").body
        assert isinstance(found, ast.Call) and isinstance(found.func, ast.Name)
        name = found.func.id
        declared = next(tool.parameters for tool in self.tools if tool.name == name)
        order: Any = declared["properties"]
        first = zip(order, map(ast.literal_eval, found.args), strict=False)
        return name, {
            **dict(first),
            **{one.arg: ast.literal_eval(one.value) for one in found.keywords if one.arg},
        }

    def run(self, name: str, arguments: dict[str, Any]) -> str:
        """What the tool returns, as text."""
        simulation = next(one for one in self._simulations if hasattr(one, name))
        try:
            output = getattr(simulation, name)(**arguments)
        except Exception as error:  # an agent sees it as output
            output = {"error": str(error)}
        return output if isinstance(output, str) else json.dumps(output, default=str)


@cache  # eight files, and hundreds of conversations
def _declared(path: Path) -> tuple[ToolSpec, ...]:
    return tuple(
        ToolSpec(name=one["name"], description=one["description"], parameters=one["parameters"])
        for one in _lines(path)
    )


def _lines(path: Path) -> Iterator[Row]:
    return map(json.loads, path.with_suffix(".json").read_text("utf-8").splitlines())


def count_blocked(part: str, data: Path, shield: Shield) -> dict[str, blocked_shares.Count]:
    """Count the blocked calls of a part by risk tier, and its disturbed conversations."""
    keys = {one["id"]: one["ground_truth"] for one in _lines(data / "possible_answer" / part)}
    found: defaultdict[str, blocked_shares.Count] = defaultdict(blocked_shares.Count)
    for row in _lines(data / part):
        disturbed = False
        for tier, blocked in _check_conversation(row, keys[row["id"]], data, shield):
            found[tier].add(blocked=blocked)
            disturbed |= blocked
        found["conversation"].add(blocked=disturbed)
    return dict(found)


def _check_conversation(
    row: Row, key: list[list[str]], data: Path, shield: Shield
) -> Iterator[tuple[str, bool]]:
    """The calls of a conversation, with tier and whether blocked. All calls are executed."""
    tools = SimulatedTools(row, data, long="long_context" in row["id"])
    session = shield.session(tools=tools.tools)
    number = 0
    for turn, calls in zip(row["question"], key, strict=True):
        for message in turn:
            session.user(message["content"])
        for written in calls:
            number += 1
            name, arguments = tools.call(written)
            (verdict,) = session.tool_call(name, arguments, id=f"call_{number}").calls
            session.tool_output(f"call_{number}", tools.run(name, arguments))
            yield verdict.tier.value, not verdict.allowed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="the folder of the unpacked package bfcl-eval")
    parser.add_argument("--results", type=Path, default=results_file.RESULTS, metavar="FOLDER")
    given = parser.parse_args()
    data = given.folder / "bfcl_eval" / "data"
    if not data.is_dir():
        parser.error(f"{given.folder} has no folder bfcl_eval/data.")
    sys.path.insert(0, str(given.folder))
    with Shield() as shield:
        found = {part: count_blocked(f"BFCL_v4_{part}", data, shield) for part in PARTS}
    written = {"judge": "embedded", "held": blocked_shares.shares(found)}
    blocked_shares.record(
        NAME, written, found, inputs=["bfcl-eval"], folder=given.results, kinds="part"
    )


if __name__ == "__main__":
    main()
