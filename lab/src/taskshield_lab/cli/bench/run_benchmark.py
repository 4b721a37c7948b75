"""One exam from the first question to the printed figures, whichever way it is sat."""

import argparse
import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from taskshield._version import __version__
from taskshield.cli import terminal
from taskshield.cli.check_result import BAD_INPUT
from taskshield.core.errors import ConfigError, TaskShieldError
from taskshield_lab.bench.records import NO_DEFENCE
from taskshield_lab.cli.bench import print_results
from taskshield_lab.cli.bench.options import Common, file_name

if TYPE_CHECKING:
    from taskshield.api.shields import Shield
    from taskshield_lab.bench.agentdojo.items import Selection
    from taskshield_lab.bench.records import BenchmarkRun, Header, Way

ALL = "all"
_DEFAULT_ATTACK = "important_instructions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """What is run, and how."""

    way: "Way"
    attacks: tuple[str, ...]
    jobs: Sequence[Any]
    id_of: Callable[[Any], str]
    """The id that the run of a job will have."""
    sit: Callable[[Any, "Shield | None"], "BenchmarkRun | None"]
    name: str
    """Of the files, without the judge's."""
    defence: str = NO_DEFENCE
    told: str = ""
    """What else makes it another exam."""
    retried: bool = False
    """Whether runs that failed are run again on resuming: a live agent may do better."""


def selection(options: Common, given: argparse.Namespace) -> "Selection":
    """The part of the exam that the command line names."""
    from taskshield_lab.bench.agentdojo.attack_placement import attack_names
    from taskshield_lab.bench.agentdojo.items import Selection

    attacks = options.attacks or (_DEFAULT_ATTACK,)
    if ALL in attacks:
        attacks = (*attack_names(), *(name for name in attacks if name != ALL))
    return Selection(
        version=options.version,
        suites=options.suites,
        attacks=attacks,
        user_tasks=tuple(given.user_task),
        injection_tasks=tuple(given.injection_task),
        clean=given.clean,
    )


def sit(options: Common, exam: Benchmark) -> int:
    """Run what is not there yet, write records and figures, print the tables.

    Raises:
        TaskShieldError: A setting is wrong, or something would spoil every run.
    """
    from taskshield_lab.bench import record_files
    from taskshield_lab.bench.report.entries import entries
    from taskshield_lab.bench.run.workers import run_all

    header = _header(options, exam)
    name = options.name or file_name(exam.name, header.judge)
    path = options.out / f"{name}.jsonl"
    writer, there = record_files.begin(path, header, existing=options.existing)
    done = {run.id for run in there if run.error is None or not exam.retried}
    jobs = [job for job in exam.jobs if exam.id_of(job) not in done]
    workers = min(options.workers, max(1, len(jobs)))
    left_out = 0
    try:
        with closing(writer), terminal.progress(len(jobs), label=exam.way) as advance:
            for line in run_all(jobs, exam.sit, options.plan(), workers=workers):
                if line is None:
                    left_out += 1
                else:
                    writer.add(line)
                advance(line)
    except (KeyboardInterrupt, TaskShieldError):
        if path.exists():
            terminal.remark(f"broken off; --resume goes on with {path}")
        raise
    if left_out:
        terminal.remark(f"attacks that make no sense for their task, left out: {left_out}")
    if not path.exists():
        raise ConfigError("nothing was run: the attacks make no sense for these tasks")
    found = record_files.read(path)
    print_results.write_figures(
        found,
        path.with_suffix(".json"),
        command=options.command,
        resumed=bool(there),
        left_out=left_out,
    )
    print_results.show(entries([(found.header, found.runs)]), color=options.color, paper=False)
    if all(run.error is not None for run in found.runs):
        terminal.complain("no run can be counted: all of them failed")
        return BAD_INPUT
    return 0


def _header(options: Common, exam: Benchmark) -> "Header":
    """What is common to all runs. The shield is tried out, to find out early what is wrong."""
    from taskshield_lab.bench.agentdojo.suites import AGENTDOJO
    from taskshield_lab.bench.records import Header

    judge, settings = NO_DEFENCE, ""
    shield = options.plan().build()
    if shield is not None:
        with shield:
            _try_out(shield)
            judge = _guard(shield)
            settings = shield.settings.model_dump_json(exclude={"judge", "api_key"})
    return Header(
        way=exam.way,
        judge=judge,
        defence=exam.defence,
        version=options.version,
        attacks=exam.attacks,
        settings=_digest(settings, exam.told),
        taskshield=__version__,
        agentdojo=AGENTDOJO,
    )


def _digest(*told: str) -> str:
    """What was told, in a form that keeps secrets: addresses may hold some."""
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:12] if any(told) else ""


def _guard(shield: "Shield") -> str:
    """Who judges."""
    settings = shield.settings
    return str(settings.judge) if settings.llm is None else f"{settings.judge}+{settings.llm}"


def _try_out(shield: "Shield") -> None:
    """Ask the judge once: a wrong key would otherwise be found out after a thousand outages.

    A cascade is also asked about a payment, because that is nothing to do without its LLM.
    """
    session = shield.session()
    decisions = [session.user("Tell me the time.")]
    if shield.settings.llm is not None:
        decisions.append(session.tool_call("send_money", {"amount": 1}))
    for decision in decisions:
        if decision.outage is not None:
            raise ConfigError(f"judge: {decision.outage.kind}: {decision.outage.detail}")
        if decision.case.trace.usage.fallbacks:
            raise ConfigError(f"llm: no verdict; there was only {decision.judge}")
