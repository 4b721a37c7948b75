"""`taskshield bench`: the parser and its subcommands."""

import argparse

from taskshield_lab.cli.bench import attacks, live, replay, report, worst_case

_DESCRIPTION = """\
Run the benchmark: attacks stopped, utility and latency of a judge. All runs use
the environments and checks of AgentDojo.

  worst-case  run an agent that obeys both the user and the attacker
  replay      check recorded runs of real agents
  live        run a real model, with the shield or one of AgentDojo's defences
  report      make tables, plots and an HTML page from records
  attacks     list the attacks
"""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add this command to the command line."""
    parser = commands.add_parser(
        "bench",
        help="measure a judge on AgentDojo",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    subcommands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (worst_case, replay, live, report, attacks):
        command.add_parser(subcommands)
