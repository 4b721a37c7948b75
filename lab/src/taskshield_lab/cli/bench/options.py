"""Options that all kinds of runs share: the shield, the selection of items, the output."""

import argparse
import math
import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from taskshield.cli import terminal
from taskshield.core.errors import ConfigError
from taskshield_lab.bench.records import NO_DEFENCE

if TYPE_CHECKING:
    from taskshield_lab.bench.record_files import Existing
    from taskshield_lab.bench.run.workers import ShieldPlan

_URL_OPTIONS = ("--base-url", "--agent-url")
_PATH_OPTIONS = ("", "--config", "--out")
"""The empty string stands for arguments without an option."""
_UNFIT = re.compile(r"[^A-Za-z0-9._+-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonOptions:
    """The options that all kinds of runs share."""

    judge: str | None
    llm: str | None
    base_url: str | None
    config: str | None
    version: str
    suites: tuple[str, ...]
    attacks: tuple[str, ...]
    workers: int
    out: Path
    name: str | None
    existing: "Existing"
    color: bool
    command: str
    """The command line, safe to store."""

    def plan(self) -> "ShieldPlan":
        """How to build a shield."""
        from taskshield_lab.bench.run.workers import ShieldPlan

        return ShieldPlan(
            judge=self.judge, llm=self.llm, base_url=self.base_url, config=self.config
        )


def add_common_options(parser: argparse.ArgumentParser, *, attacks: str) -> None:
    """Add the options that all kinds of runs share."""
    guard = parser.add_argument_group("the shield")
    guard.add_argument(
        "--judge",
        metavar="NAME",
        help='the judge, e.g. openai:gpt-4o-mini, allow-all or block-side-effects; "none" for no'
        " shield",
    )
    guard.add_argument(
        "--llm", metavar="NAME", help="the LLM of the judge cascade, e.g. openai:gpt-4o-mini"
    )
    guard.add_argument("--base-url", metavar="URL", help="address of the judge's endpoint")
    guard.add_argument("--config", metavar="FILE", help="a settings file, YAML or TOML")
    part = parser.add_argument_group("the items")
    part.add_argument(
        "--version", default="v1", metavar="V", help="version of the suites: v1 (default) to v1.2.2"
    )
    part.add_argument(
        "--suite",
        dest="suites",
        action="append",
        default=[],
        metavar="NAME",
        help="a suite; repeatable",
    )
    part.add_argument(
        "--attack", dest="attacks", action="append", default=[], metavar="NAME", help=attacks
    )
    work = parser.add_argument_group("execution")
    work.add_argument(
        "--workers",
        type=count,
        default=os.cpu_count() or 1,
        metavar="N",
        help="number of processes",
    )
    work.add_argument(
        "--out",
        type=Path,
        default=Path("bench-results"),
        metavar="FOLDER",
        help="folder for records and figures (default: bench-results)",
    )
    work.add_argument(
        "--name", metavar="NAME", help="name of the files (default: made from the options)"
    )
    there = work.add_mutually_exclusive_group()
    there.add_argument(
        "--resume",
        dest="existing",
        action="store_const",
        const="resume",
        default="refuse",
        help="continue existing records",
    )
    there.add_argument(
        "--overwrite",
        dest="existing",
        action="store_const",
        const="overwrite",
        help="replace existing records",
    )
    terminal.add_color(work)


def add_task_selection(parser: argparse.ArgumentParser) -> None:
    """Add the options that select some of AgentDojo's tasks."""
    part = parser.add_argument_group("a selection of tasks")
    part.add_argument(
        "--user-task", action="append", default=[], metavar="ID", help="a user task; repeatable"
    )
    part.add_argument(
        "--injection-task",
        action="append",
        default=[],
        metavar="ID",
        help="a goal of the attacker; repeatable",
    )
    part.add_argument(
        "--no-clean", dest="clean", action="store_false", help="leave out runs without an attack"
    )


def common_options(given: argparse.Namespace) -> CommonOptions:
    """Read the shared options."""
    if given.name is not None and (not given.name or _UNFIT.search(given.name)):
        raise ConfigError("--name may contain only letters, digits and ._+-.")
    if given.judge == NO_DEFENCE and (given.config or given.base_url or given.llm):
        raise ConfigError("--judge none cannot be combined with --config, --base-url or --llm.")
    return CommonOptions(
        judge=given.judge,
        llm=given.llm,
        base_url=given.base_url,
        config=given.config,
        version=given.version,
        suites=tuple(given.suites),
        attacks=tuple(given.attacks),
        workers=given.workers,
        out=given.out,
        name=given.name,
        existing=given.existing,
        color=given.color,
        command=command_line(given),
    )


def file_name(*parts: str) -> str:
    """Join parts to the name of a file. Unsafe characters are replaced."""
    return "-".join(_UNFIT.sub("_", part) for part in parts if part)


def join_names(names: tuple[str, ...]) -> str:
    """One word for several names."""
    return "+".join(names) if len(names) <= 2 else f"{len(names)}_attacks"


def command_line(given: argparse.Namespace) -> str:
    """The command line without private parts.

    Paths are reduced to names, because folders are private. Addresses lose user and query, which
    may contain secrets.
    """
    shown, option = ["taskshield"], ""
    for word in given.words:
        name, equals, value = word.partition("=")
        if word.startswith("-") and equals:
            shown.append(f"{name}={_shown(name, value)}")
        elif word.startswith("-"):
            shown.append(word)
        else:
            shown.append(_shown(option, word))
        option = word if word.startswith("-") else ""
    return shlex.join(shown)


def _shown(option: str, value: str) -> str:
    if option in _URL_OPTIONS:
        url = urlsplit(value)
        return urlunsplit((url.scheme, url.netloc.rpartition("@")[2], url.path, "", ""))
    if option in _PATH_OPTIONS:
        return Path(value).name
    return value


def seconds(text: str) -> float:
    """A time on the command line."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError("give a number of seconds above 0")
    return value


def count(text: str) -> int:
    """A number on the command line that is at least 1."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError("give a whole number of at least 1")
    return int(text)
