"""`taskshield bench replay`: the shield checks recorded runs of real agents."""

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
from taskshield_lab.cli.bench.options import (
    add_common_options,
    common_options,
    file_name,
    join_names,
)

if TYPE_CHECKING:
    from taskshield.adapters.traces.agentdojo_runs import RecordedRun

_DESCRIPTION = """\
The shield checks each recorded call with the conversation that the agent saw.
Blocked calls are not executed. AgentDojo's checks then decide whether the user's
task was completed and whether the attacker's goal was reached.
"""
_EPILOG = fill(f"{WHERE} Runs that ended with an error are left out.", 78)


def add_parser(subcommands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add this command to the command line."""
    parser = subcommands.add_parser(
        "replay",
        help="check recorded runs of real agents",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="PATH",
        help="a .jsonl or .jsonl.xz file with one run per line, or a folder of such or .json files",
    )
    add_common_options(parser, attacks="an attack; repeatable (default: all recorded attacks)")
    parser.add_argument("--clean", action="store_true", help="only runs without an attack")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Replay the runs and print the figures.

    Raises:
        TaskShieldError: An option, a setting or a recorded run is wrong.
    """
    options = common_options(given)
    with needs_eval():
        from taskshield_lab.bench.run import replay
    wanted = () if run_benchmark.ALL in options.attacks else options.attacks
    found = list(replay.recorded_runs(given.paths, in_suites=options.suites, attacks=wanted))
    if given.clean:
        found = [run for run in found if run.attack is None]
    runs = _checked(found, options.version)
    attacks = tuple(dict.fromkeys(run.attack for run in runs if run.attack is not None))
    missing = [attack for attack in wanted if attack not in attacks]
    if missing:
        raise ConfigError(f"No recorded run has the attack {', '.join(missing)}.")
    pipelines = tuple(dict.fromkeys(run.pipeline for run in runs))
    who = pipelines[0] if len(pipelines) == 1 else f"{len(pipelines)}_agents"
    return run_benchmark.run_benchmark(
        options,
        run_benchmark.Benchmark(
            way="replay",
            attacks=attacks,
            jobs=runs,
            id_of=replay.id_of,
            run=partial(replay.run, version=options.version),
            name=file_name("replay", options.version, who, join_names(attacks)),
        ),
    )


def _checked(found: "list[RecordedRun]", version: str) -> "list[RecordedRun]":
    """The runs that can be replayed, without duplicates.

    Raises:
        ConfigError: A run does not belong to this version of the suites, or none is left.
    """
    from taskshield_lab.bench.run import replay

    runs = {replay.id_of(run): run for run in found if not replay.is_attackers_own(run)}
    reworded = 0
    for run in runs.values():
        try:
            reworded += replay.is_reworded(run, replay.prepare(run, version))
        except ConfigError as error:
            raise ConfigError(f"{error} Choose another --version.") from None
    if not runs:
        raise ConfigError("No recorded run matches these suites and attacks.")
    if len(runs) < len(found):
        terminal.remark(
            f"{len(found) - len(runs)} recorded runs were left out: duplicates, or runs with the"
            " attacker's goal as the user's task."
        )
    if reworded:
        terminal.remark(
            f"In {reworded} of {len(runs)} runs the user's request differs from suites {version}."
            " Another --version may fit better."
        )
    return list(runs.values())
