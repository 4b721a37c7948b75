"""`taskshield bench replay`: recorded runs of real agents, behind the shield."""

import argparse
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from taskshield.cli import terminal
from taskshield.core.errors import ConfigError
from taskshield_lab.bench.run.recorded_runs import WHERE
from taskshield_lab.cli.bench import run_benchmark
from taskshield_lab.cli.bench.missing_extra import needs_eval
from taskshield_lab.cli.bench.options import add_common, common, file_name, some

if TYPE_CHECKING:
    from taskshield.adapters.traces.agentdojo_runs import RecordedRun

_DESCRIPTION = """\
Every recorded call is put to the shield with the conversation as the agent saw
it. Calls that are held back are not executed; AgentDojo's checks then say
whether the user's task and the attacker's goal came about.
"""
_EPILOG = fill(f"{WHERE} Runs that ended with an error are left out.", 78)


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
    parser.add_argument("--clean", action="store_true", help="only runs without an attack")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Replay the runs and print the figures.

    Raises:
        TaskShieldError: An option, a setting or a recorded run is wrong.
    """
    options = common(given)
    with needs_eval():
        from taskshield_lab.bench.run import replay
    wanted = () if run_benchmark.ALL in options.attacks else options.attacks
    found = list(replay.recorded_runs(given.paths, suites=options.suites, attacks=wanted))
    if given.clean:
        found = [run for run in found if run.attack is None]
    runs = _checked(found, options.version)
    attacks = tuple(dict.fromkeys(run.attack for run in runs if run.attack is not None))
    missing = [attack for attack in wanted if attack not in attacks]
    if missing:
        raise ConfigError(f"no recorded run is under attack by {', '.join(missing)}")
    pipelines = tuple(dict.fromkeys(run.pipeline for run in runs))
    who = pipelines[0] if len(pipelines) == 1 else f"{len(pipelines)}_agents"
    return run_benchmark.sit(
        options,
        run_benchmark.Benchmark(
            way="replay",
            attacks=attacks,
            jobs=runs,
            id_of=replay.id_of,
            sit=partial(replay.run, version=options.version),
            name=file_name("replay", options.version, who, some(attacks)),
        ),
    )


def _checked(found: "list[RecordedRun]", version: str) -> "list[RecordedRun]":
    """The runs that can be replayed, each once. What is wrong is found out before the exam.

    Raises:
        ConfigError: A run has no place in the suites of this version, or none is left.
    """
    from taskshield_lab.bench.run import replay

    runs = {replay.id_of(run): run for run in found if not replay.is_attackers_own(run)}
    reworded = 0
    for run in runs.values():
        try:
            reworded += replay.is_reworded(run, replay.question(run, version))
        except ConfigError as error:
            raise ConfigError(f"{error}; choose another --version") from None
    if not runs:
        raise ConfigError("no recorded run is of these suites and attacks")
    if len(runs) < len(found):
        terminal.remark(
            f"recorded twice, or of attackers' goals as tasks: {len(found) - len(runs)}"
        )
    if reworded:
        terminal.remark(
            f"in {reworded} of {len(runs)} runs the user asks in other words than in suites"
            f" {version}: another --version may fit better"
        )
    return list(runs.values())
