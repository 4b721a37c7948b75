"""`taskshield doctor`: its options and its exit status."""

import argparse

from taskshield.cli import terminal
from taskshield.cli.serve import add_settings

_DESCRIPTION = """\
Check a set-up: the installation, the model, the settings, the store, the port,
the clock, the endpoints that the settings name, and Claude Code's hooks. Then
the judge has to stop one attack. Below each failed check is what to do.

Give the options with which you run `taskshield serve`. Nothing is changed, and
only what the settings and the hooks name is asked. No key is sent, except by
the judge to its own endpoint.
"""
_EPILOG = """\
exit status:
  0  no check failed
  1  a check failed
  2  the command line is wrong
"""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add this command to the command line."""
    parser = commands.add_parser(
        "doctor",
        help="find what is wrong with a set-up",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_settings(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    terminal.add_color(parser)
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Run the checks, print the findings, and return the exit status."""
    # Not above: other commands, which run for each event of a hook, should start fast.
    from taskshield.cli.doctor import report
    from taskshield.cli.doctor.examination import examine

    console = terminal.output(color=given.color)
    findings = list(examine(given))
    if given.json:
        print(report.document(findings))
    else:
        report.show(console, findings)
    return 1 if report.has_failed(findings) else 0
