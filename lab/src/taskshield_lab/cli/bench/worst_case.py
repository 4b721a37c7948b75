"""`taskshield bench worst-case`: the agent that does whatever anybody wants."""

import argparse
from functools import partial

from taskshield_lab.cli.bench import run_benchmark
from taskshield_lab.cli.bench.missing_extra import needs_eval
from taskshield_lab.cli.bench.options import add_common, add_part, common, file_name, some

_DESCRIPTION = """\
An agent carries out the calls that solve the user's task and, the moment an
injection is shown to it, the attacker's calls as well. It ignores all
feedback. So an attack succeeds unless the shield stops it, and a task comes
about unless the shield holds one of its calls back. No key is needed.
"""


def add_parser(ways: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add this command to the command line."""
    parser = ways.add_parser(
        "worst-case",
        help="an agent that does whatever the user and the attacker want",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_common(
        parser,
        attacks="repeatable; important_instructions where none is named, all for every one",
    )
    add_part(parser)
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Sit the exam and print the figures.

    Raises:
        TaskShieldError: An option or a setting is wrong.
    """
    options = common(given)
    with needs_eval():
        from taskshield_lab.bench.agentdojo.items import items
        from taskshield_lab.bench.run import worst_case
    chosen = run_benchmark.selection(options, given)
    questions = items(chosen)
    return run_benchmark.sit(
        options,
        run_benchmark.Benchmark(
            way="worst-case",
            attacks=chosen.attacks,
            jobs=questions,
            id_of=lambda item: item.id(worst_case.AGENT),
            sit=partial(worst_case.run, version=options.version),
            name=file_name("worst-case", options.version, some(chosen.attacks)),
        ),
    )
