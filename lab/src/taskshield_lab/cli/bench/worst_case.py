"""`taskshield bench worst-case`: an agent that obeys both the user and the attacker."""

import argparse
from functools import partial

from taskshield_lab.cli.bench import run_benchmark
from taskshield_lab.cli.bench.missing_extra import needs_eval
from taskshield_lab.cli.bench.options import (
    add_common_options,
    add_task_selection,
    common_options,
    file_name,
    join_names,
)

_DESCRIPTION = """\
An agent makes the calls that solve the user's task. As soon as it has read an
injection, it makes the attacker's calls as well. It ignores all feedback. So an
attack succeeds unless the shield blocks it, and a task is completed unless the
shield blocks one of its calls. No API key is needed.
"""


def add_parser(subcommands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add this command to the command line."""
    parser = subcommands.add_parser(
        "worst-case",
        help="run an agent that obeys both the user and the attacker",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_common_options(
        parser,
        attacks="an attack; repeatable; all for every attack (default: important_instructions)",
    )
    add_task_selection(parser)
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Run the items and print the figures.

    Raises:
        TaskShieldError: An option or a setting is wrong.
    """
    options = common_options(given)
    with needs_eval():
        from taskshield_lab.bench.agentdojo.items import items
        from taskshield_lab.bench.run import worst_case
    chosen = run_benchmark.selection(options, given)
    jobs = items(chosen)
    return run_benchmark.run_benchmark(
        options,
        run_benchmark.Benchmark(
            way="worst-case",
            attacks=chosen.attacks,
            jobs=jobs,
            id_of=lambda item: item.id(worst_case.AGENT),
            run=partial(worst_case.run, version=options.version),
            name=file_name("worst-case", options.version, join_names(chosen.attacks)),
        ),
    )
