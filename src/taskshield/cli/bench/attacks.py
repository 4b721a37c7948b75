"""`taskshield bench attacks`: which attacks there are, and what ours try."""

import argparse

from rich.table import Table
from rich.text import Text

from taskshield.cli import terminal
from taskshield.cli.bench.extra import needs_eval


def add_parser(ways: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add this command to the command line."""
    parser = ways.add_parser("attacks", help="list the attacks")
    parser.set_defaults(run=lambda given: run())


def run() -> int:
    """Print the attacks."""
    with needs_eval():
        from taskshield.evals.attacks.catalogue import GENERATORS
        from taskshield.evals.exam.staging import attack_names
    table = Table("attack", "what it tries", box=None, pad_edge=False)
    for name in attack_names():
        ours = GENERATORS.get(name)
        tries = "comes with AgentDojo" if ours is None else ours.tries
        table.add_row(Text(name, no_wrap=True), Text(tries))
    terminal.show(terminal.output(color=True), table)
    return 0
