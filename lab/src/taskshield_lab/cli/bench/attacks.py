"""`taskshield bench attacks`: which attacks there are, and what ours try."""

import argparse

from rich.table import Table
from rich.text import Text

from taskshield.cli import terminal
from taskshield_lab.cli.bench.missing_extra import needs_eval


def add_parser(ways: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add this command to the command line."""
    parser = ways.add_parser("attacks", help="list the attacks")
    parser.set_defaults(run=lambda given: run())


def run() -> int:
    """Print the attacks."""
    with needs_eval():
        from taskshield_lab.bench.agentdojo.attack_placement import attack_names
        from taskshield_lab.bench.attacks.catalogue import GENERATORS
    table = Table("attack", "what it tries", box=None, pad_edge=False)
    for name in attack_names():
        ours = GENERATORS.get(name)
        tries = "comes with AgentDojo" if ours is None else ours.tries
        table.add_row(Text(name, no_wrap=True), Text(tries))
    terminal.show(terminal.output(color=True), table)
    return 0
