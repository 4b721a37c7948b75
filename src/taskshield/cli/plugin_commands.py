"""Commands of other packages, by the entry points of the group `taskshield.commands`.

`taskshield bench` and `taskshield train` are such commands: they come with the package
taskshield-lab. Without it they are listed all the same, and say what to install.
"""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NoReturn

from taskshield.cli import terminal
from taskshield.core.errors import ConfigError, MissingExtraError, TaskShieldError

GROUP = "taskshield.commands"

Commands = Any
"""What argparse's `add_subparsers` returns; the type of it is private."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _LabCommand:
    help: str
    extra: str
    """What to install it with."""


_LAB = "taskshield-lab"
_LAB_COMMANDS: Mapping[str, _LabCommand] = {
    "bench": _LabCommand(help="run the benchmark", extra="eval"),
    "train": _LabCommand(help="train the embedded judge's model", extra="train"),
}


def add_plugin_commands(commands: Commands) -> None:
    """Add the commands of all installed packages, and those of taskshield-lab in any case.

    The error of a broken plugin is raised when its command is run; others are not affected.
    """
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        if entry.name in commands.choices:
            terminal.remark(
                f"the entry point {entry.name!r} ({entry.value}) is ignored: taskshield has a"
                " command of this name"
            )
        else:
            _add_plugin(commands, entry)
    for name, command in _LAB_COMMANDS.items():
        if name not in commands.choices:
            needs = f"{command.help} (needs taskshield[{command.extra}])"
            _add_failing(commands, name, needs, MissingExtraError(_LAB, command.extra))


def _add_plugin(commands: Commands, entry: EntryPoint) -> None:
    try:
        add_parser = entry.load()
        add_parser(
            argparse.ArgumentParser().add_subparsers()
        )  # a failure must not leave half a parser
    except TaskShieldError as error:
        _add_failing(commands, entry.name, "cannot be loaded", error)
    except Exception as error:
        why = (
            f"The command {entry.name!r} cannot be loaded: its entry point {entry.value} failed"
            f" ({type(error).__name__}). Reinstall the package that it comes with."
        )
        _add_failing(commands, entry.name, "cannot be loaded", ConfigError(why))
    else:
        add_parser(commands)


def _add_failing(commands: Commands, name: str, help: str, error: TaskShieldError) -> None:
    """Add a command that raises this error, whatever its arguments."""

    def run(_: argparse.Namespace) -> NoReturn:
        raise error

    # Without prefix characters any option is accepted, so that this error is the one shown.
    parser = commands.add_parser(name, help=help, prefix_chars="\0", add_help=False)
    parser.add_argument("arguments", nargs="*")
    parser.set_defaults(run=run)
