"""`taskshield bench replay`: recorded runs of real agents, behind the shield."""

import argparse
from functools import partial
from pathlib import Path

from taskshield.cli.bench import sitting
from taskshield.cli.bench.extra import needs_eval
from taskshield.cli.bench.options import add_common, common, file_name, some
from taskshield.core.errors import ConfigError

_DESCRIPTION = """\
Every recorded call is put to the shield with the conversation as the agent saw
it. Calls that are held back are not executed; AgentDojo's checks then say
whether the user's task and the attacker's goal came about.
"""
_EPILOG = """\
The runs are those that AgentDojo's authors publish: the folder runs/ of the
GitHub repository ethz-spylab/agentdojo. Runs that ended with an error are
left out.
"""


def add_parser(ways: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add this command to the command line."""
    parser = ways.add_parser(
        "replay",
        help="recorded runs of real agents",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="PATH",
        help="a .jsonl or .jsonl.xz file with a run on each line, or a folder of those or of .json",
    )
    add_common(parser, attacks="repeatable; all that are recorded where none is named")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Replay the runs and print the figures.

    Raises:
        TaskShieldError: An option, a setting or a recorded run is wrong.
    """
    options = common(given)
    with needs_eval():
        from taskshield.evals.run import replay
    found = list(replay.recorded_runs(given.paths, suites=options.suites, attacks=options.attacks))
    if not found:
        raise ConfigError("no recorded run is of these suites and attacks")
    attacks = tuple(dict.fromkeys(run.attack for run in found if run.attack is not None))
    missing = [attack for attack in options.attacks if attack not in attacks]
    if missing:
        raise ConfigError(f"no recorded run is under attack by {', '.join(missing)}")
    pipelines = tuple(dict.fromkeys(run.pipeline for run in found))
    who = pipelines[0] if len(pipelines) == 1 else f"{len(pipelines)}_agents"
    return sitting.sit(
        options,
        sitting.Exam(
            way="replay",
            attacks=attacks,
            jobs=found,
            id_of=replay.id_of,
            sit=partial(replay.run, version=options.version),
            name=file_name("replay", options.version, who, some(attacks)),
        ),
    )
