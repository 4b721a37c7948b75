"""`taskshield bench attacks`: lists the attacks with a description."""

import argparse

from rich.table import Table
from rich.text import Text

from taskshield.cli import terminal
from taskshield_lab.cli.bench.missing_extra import needs_eval


def add_parser(subcommands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add this command to the command line."""
    parser = subcommands.add_parser("attacks", help="list the attacks")
    parser.set_defaults(run=lambda given: run())


def run() -> int:
    """Print the attacks."""
    with needs_eval():
        from taskshield_lab.bench.agentdojo.attack_placement import attack_names
        from taskshield_lab.bench.attacks.catalogue import GENERATORS
    table = Table("attack", "description", box=None, pad_edge=False)
    for name in attack_names():
        generator = GENERATORS.get(name)
        description = "One of AgentDojo's own attacks." if generator is None else generator.tries
        table.add_row(Text(name, no_wrap=True), Text(description))
    terminal.show(terminal.output(color=True), table)
    return 0
