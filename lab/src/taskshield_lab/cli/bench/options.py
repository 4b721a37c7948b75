"""What the ways to sit the exam are told alike: the shield, the part of the exam, the files."""

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
"""The first stands for words without an option."""
_UNFIT = re.compile(r"[^A-Za-z0-9._+-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """The part of the command line that all ways share."""

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
    """How the command was called."""

    def plan(self) -> "ShieldPlan":
        """How a shield is made."""
        from taskshield_lab.bench.run.workers import ShieldPlan

        return ShieldPlan(
            judge=self.judge, llm=self.llm, base_url=self.base_url, config=self.config
        )


def add_common(parser: argparse.ArgumentParser, *, attacks: str) -> None:
    """Add the options that all ways share."""
    guard = parser.add_argument_group("the shield")
    guard.add_argument(
        "--judge",
        metavar="NAME",
        help='who judges, e.g. openai:gpt-4o-mini, allow-all, block-side-effects; "none" for no'
        " defence at all",
    )
    guard.add_argument(
        "--llm", metavar="NAME", help="whom the judge cascade asks, e.g. openai:gpt-4o-mini"
    )
    guard.add_argument("--base-url", metavar="URL", help="address of the judge's endpoint")
    guard.add_argument("--config", metavar="FILE", help="settings, a YAML or TOML file")
    part = parser.add_argument_group("the part of the exam")
    part.add_argument(
        "--version", default="v1", metavar="V", help="version of the suites: v1 (default) to v1.2.2"
    )
    part.add_argument(
        "--suite", dest="suites", action="append", default=[], metavar="NAME", help="repeatable"
    )
    part.add_argument(
        "--attack", dest="attacks", action="append", default=[], metavar="NAME", help=attacks
    )
    work = parser.add_argument_group("the work")
    work.add_argument(
        "--workers", type=count, default=os.cpu_count() or 1, metavar="N", help="processes"
    )
    work.add_argument(
        "--out",
        type=Path,
        default=Path("bench-results"),
        metavar="FOLDER",
        help="where records and figures go (default: bench-results)",
    )
    work.add_argument("--name", metavar="NAME", help="of the files; made from the options if left")
    there = work.add_mutually_exclusive_group()
    there.add_argument(
        "--resume",
        dest="existing",
        action="store_const",
        const="resume",
        default="refuse",
        help="go on with records begun earlier",
    )
    there.add_argument(
        "--overwrite",
        dest="existing",
        action="store_const",
        const="overwrite",
        help="begin anew where there are records",
    )
    terminal.add_color(work)


def add_part(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose some of AgentDojo's tasks."""
    part = parser.add_argument_group("some tasks only")
    part.add_argument("--user-task", action="append", default=[], metavar="ID", help="repeatable")
    part.add_argument(
        "--injection-task", action="append", default=[], metavar="ID", help="repeatable"
    )
    part.add_argument("--no-clean", dest="clean", action="store_false", help="attacked runs only")


def common(given: argparse.Namespace) -> Common:
    """Read the shared options."""
    if given.name is not None and (not given.name or _UNFIT.search(given.name)):
        raise ConfigError("--name: letters, digits and ._+- only")
    if given.judge == NO_DEFENCE and (given.config or given.base_url or given.llm):
        raise ConfigError("--judge none takes neither --config nor --base-url nor --llm")
    return Common(
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
    """A name for files, made of words that may hold anything."""
    return "-".join(_UNFIT.sub("_", part) for part in parts if part)


def some(names: tuple[str, ...]) -> str:
    """Several names in one word."""
    return "+".join(names) if len(names) <= 2 else f"{len(names)}_attacks"


def command_line(given: argparse.Namespace) -> str:
    """How the command was called.

    Of paths only the names: where they lay is nobody's business. Of addresses neither user nor
    query: they may hold a secret.
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
        raise argparse.ArgumentTypeError("a number of seconds above 0")
    return value


def count(text: str) -> int:
    """A number on the command line that is at least 1."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError("a number of at least 1")
    return int(text)
