"""`taskshield audit`: replay logs at rest and say what the shield would have done."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from taskshield.cli import terminal
from taskshield.cli.check_result import EXIT_STATUS
from taskshield.core.errors import ConfigError, TaskShieldError

if TYPE_CHECKING:
    from taskshield.audit.logs.input_files import Input
    from taskshield.audit.results.outcomes import Result
    from taskshield.audit.run import Audit, Watch

_DESCRIPTION = """\
Replay recorded conversations through the shield and write down which calls of
the agent and which directives in tool output do not serve the user's tasks.
Reads message logs of OpenAI and Anthropic, OpenTelemetry spans (OTLP JSON),
LangSmith and Langfuse exports, Inspect logs and AgentDojo runs, as JSON, JSON
Lines or Parquet, packed with gzip, xz or Zstandard or not at all.
"""
_EPILOG = """\
The folder of the results gets findings.jsonl, findings.parquet, journal.jsonl
(what became of each conversation), summary.json and report.md. They hold no
text of the conversations unless --with-text is given, and then none of the
secrets that can be told as such.

exit status:
  0  every conversation was checked, and nothing is misaligned
  1  something is misaligned
  2  there are no results: the command line or a setting is wrong
  3  nothing is misaligned, but something could not be read or checked
"""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add this command to the command line."""
    parser = commands.add_parser(
        "audit",
        help="replay logs at rest",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", metavar="PATH", nargs="+", help="a file, a folder or a pattern")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("audit-results"),
        metavar="FOLDER",
        help="where the results go (default: audit-results)",
    )
    parser.add_argument("--resume", action="store_true", help="go on with an audit begun earlier")
    parser.add_argument(
        "--with-text", action="store_true", help="write down what is said in findings"
    )
    parser.add_argument(
        "--limit", type=_count, metavar="N", help="stop after so many conversations"
    )
    parser.add_argument(
        "--workers", type=_count, metavar="N", help="processes, or actors of a cluster; 1"
    )
    parser.add_argument(
        "--ray", metavar="ADDRESS", help='a Ray cluster, or "local" for one on this machine'
    )
    parser.add_argument("--judge", metavar="NAME", help="who judges, e.g. openai:gpt-4o-mini")
    parser.add_argument(
        "--llm", metavar="NAME", help="whom the judge cascade asks, e.g. openai:gpt-4o-mini"
    )
    parser.add_argument("--base-url", metavar="URL", help="address of the judge's endpoint")
    parser.add_argument("--config", metavar="FILE", help="settings, a YAML or TOML file")
    terminal.add_color(parser)
    parser.set_defaults(run=lambda given: audit(_audit(given), color=given.color))


def audit(wanted: "Audit", *, color: bool) -> int:
    """Run the audit, print its report and return the exit status.

    Raises:
        TaskShieldError: The command line or a setting is wrong, or a package is missing.
    """
    from taskshield.audit.run import run
    from taskshield.cli.audit.report import report

    try:
        with _progress(wanted.files) as watch:
            summary = run(wanted, watch)
    except ConfigError:  # nothing was begun
        raise
    except (KeyboardInterrupt, TaskShieldError):
        terminal.remark(f"broken off; --resume goes on with {wanted.out}")
        raise
    terminal.show(terminal.output(color=color), report(summary, wanted.out))
    if summary.findings:
        return EXIT_STATUS["misaligned"]
    return EXIT_STATUS["outage" if summary.failures or summary.failed else "aligned"]


@contextmanager
def _progress(files: "tuple[Input, ...]") -> "Iterator[Watch]":
    """A bar on the standard error output: how much of the files has been read and checked."""
    wanted = sys.stderr is not None and sys.stderr.isatty()
    columns = (
        TextColumn("{task.fields[conversations]:,} checked"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    before = {}
    total = 0
    for file in files:
        before[file.name] = total
        total += file.size
    with Progress(*columns, console=console, transient=True, disable=not wanted) as bar:
        task = bar.add_task("", total=total, conversations=0)
        conversations = 0

        def watch(result: "Result") -> None:
            nonlocal conversations
            conversations += result.counts
            done = before[result.file] + result.read
            bar.update(task, completed=done, conversations=conversations)

        yield watch


def _audit(given: argparse.Namespace) -> "Audit":
    # Not above: what reads logs is not to slow down other commands, such as a hook's.
    from taskshield.audit.logs.input_files import find
    from taskshield.audit.replay.checker import Plan
    from taskshield.audit.run import Audit

    return Audit(
        files=tuple(find(given.paths, besides=given.out)),
        out=given.out,
        plan=Plan(
            judge=given.judge,
            llm=given.llm,
            base_url=given.base_url,
            config=given.config,
            with_text=given.with_text,
        ),
        workers=given.workers,
        ray=given.ray,
        limit=given.limit,
        resume=given.resume,
    )


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError("a number of at least 1")
    return int(text)
