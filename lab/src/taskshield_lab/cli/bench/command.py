"""`taskshield bench`: the subcommands of the exam."""

import argparse

from taskshield_lab.cli.bench import attacks, live, replay, report, worst_case

_DESCRIPTION = """\
Sit the exam: how many attacks does a judge stop, how much useful work does it
cost, and how long does it take? Everything runs in the worlds of AgentDojo,
with its own checks.

  worst-case  an agent that does whatever the user and the attacker want
  replay      recorded runs of real agents, behind the shield
  live        a real model, behind the shield or a defence of AgentDojo's
  report      tables, plots and a page from records, without running anything
  attacks     the attacks that there are
"""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add this command to the command line."""
    parser = commands.add_parser(
        "bench",
        help="measure a judge on AgentDojo",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    ways = parser.add_subparsers(title="ways", metavar="WAY", required=True)
    for way in (worst_case, replay, live, report, attacks):
        way.add_parser(ways)
