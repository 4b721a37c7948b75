"""`taskshield audit`: replay recorded conversations through the shield."""

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
    from taskshield.audit.run import Audit, ResultCallback

_DESCRIPTION = """\
Replay recorded conversations through the shield and report which calls of the
agent and which directives in tool output do not serve the user's tasks.
Reads message logs of OpenAI and Anthropic, OpenTelemetry spans (OTLP JSON),
LangSmith and Langfuse exports, Inspect logs and AgentDojo runs, as JSON, JSON
Lines or Parquet, plain or compressed with gzip, xz or Zstandard.
"""
_EPILOG = """\
The results are findings.jsonl, findings.parquet, journal.jsonl (one line for
each conversation), summary.json and report.md. They hold no text of the
conversations unless you give --with-text. Secrets that are recognised are
removed even then.

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
        help="replay recorded conversations",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", metavar="PATH", nargs="+", help="file, folder or pattern")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("audit-results"),
        metavar="FOLDER",
        help="folder for the results (default: audit-results)",
    )
    parser.add_argument("--resume", action="store_true", help="continue an interrupted audit")
    parser.add_argument("--with-text", action="store_true", help="write the texts of findings, too")
    parser.add_argument("--limit", type=_count, metavar="N", help="stop after N conversations")
    parser.add_argument(
        "--workers", type=_count, metavar="N", help="processes, or actors of a cluster (default: 1)"
    )
    parser.add_argument("--ray", metavar="ADDRESS", help='address of a Ray cluster, or "local"')
    parser.add_argument("--judge", metavar="NAME", help="the judge, e.g. openai:gpt-4o-mini")
    parser.add_argument(
        "--llm", metavar="NAME", help="the LLM of the judge cascade, e.g. openai:gpt-4o-mini"
    )
    parser.add_argument("--base-url", metavar="URL", help="base URL of the judge's endpoint")
    parser.add_argument("--config", metavar="FILE", help="settings file, YAML or TOML")
    terminal.add_color(parser)
    parser.set_defaults(run=lambda given: audit(_audit(given), color=given.color), extra="audit")


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
    except ConfigError:  # before the first conversation
        raise
    except (KeyboardInterrupt, TaskShieldError):
        terminal.remark(f"The audit was interrupted. Continue it with --resume --out {wanted.out}")
        raise
    terminal.show(terminal.output(color=color), report(summary, wanted.out))
    if summary.findings:
        return EXIT_STATUS["misaligned"]
    return EXIT_STATUS["outage" if summary.failures or summary.failed else "aligned"]


@contextmanager
def _progress(files: "tuple[Input, ...]") -> "Iterator[ResultCallback]":
    """A progress bar on the standard error output: the part of the files that is checked."""
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
    # Not above: the imports would slow down other commands, such as `taskshield hook`.
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
        raise argparse.ArgumentTypeError("must be a whole number of at least 1")
    return int(text)
