"""Runs a benchmark: writes records and figures, and prints the tables."""

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
from taskshield_lab.cli.bench.options import CommonOptions, file_name

if TYPE_CHECKING:
    from taskshield.api.shields import Shield
    from taskshield_lab.bench.agentdojo.items import Selection
    from taskshield_lab.bench.records import BenchmarkRun, Header, Way

ALL = "all"
_DEFAULT_ATTACK = "important_instructions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """The items to run, and how to run one."""

    way: "Way"
    attacks: tuple[str, ...]
    jobs: Sequence[Any]
    id_of: Callable[[Any], str]
    """The id of the run of a job."""
    run: Callable[[Any, "Shield | None"], "BenchmarkRun | None"]
    name: str
    """Name of the files, without the judge."""
    defence: str = NO_DEFENCE
    extra_settings: str = ""
    """Further settings that are part of the hash in the header."""
    retry_failed: bool = False
    """Whether failed runs are repeated on resuming. A live agent may succeed."""


def selection(options: CommonOptions, given: argparse.Namespace) -> "Selection":
    """The items that the command line selects."""
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


def run_benchmark(options: CommonOptions, benchmark: Benchmark) -> int:
    """Run the items that have no record, write records and figures, and print the tables.

    Raises:
        TaskShieldError: A setting is wrong, or every run would fail.
    """
    from taskshield_lab.bench import record_files
    from taskshield_lab.bench.report.entries import entries
    from taskshield_lab.bench.run.workers import run_all

    header = _header(options, benchmark)
    name = options.name or file_name(benchmark.name, header.judge)
    path = options.out / f"{name}.jsonl"
    writer, there = record_files.begin(path, header, existing=options.existing)
    done = {run.id for run in there if run.error is None or not benchmark.retry_failed}
    jobs = [job for job in benchmark.jobs if benchmark.id_of(job) not in done]
    workers = min(options.workers, max(1, len(jobs)))
    left_out = 0
    try:
        with closing(writer), terminal.progress(len(jobs), label=benchmark.way) as advance:
            for line in run_all(jobs, benchmark.run, options.plan(), workers=workers):
                if line is None:
                    left_out += 1
                else:
                    writer.add(line)
                advance(line)
    except (KeyboardInterrupt, TaskShieldError):
        if path.exists():
            terminal.remark(f"The run was interrupted. Use --resume to continue {path}.")
        raise
    if left_out:
        terminal.remark(f"Attacks left out because they do not apply to their task: {left_out}.")
    if not path.exists():
        raise ConfigError("Nothing was run: the attacks do not apply to these tasks.")
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
        terminal.complain("All runs failed, so there are no figures.")
        return BAD_INPUT
    return 0


def _header(options: CommonOptions, benchmark: Benchmark) -> "Header":
    """The header of the records. The shield is tested first, so that wrong settings fail early."""
    from taskshield_lab.bench.agentdojo.suites import AGENTDOJO
    from taskshield_lab.bench.records import Header

    judge, settings = NO_DEFENCE, ""
    shield = options.plan().build()
    if shield is not None:
        with shield:
            _test_shield(shield)
            judge = _judge_name(shield)
            settings = shield.settings.model_dump_json(exclude={"judge", "api_key"})
    return Header(
        way=benchmark.way,
        judge=judge,
        defence=benchmark.defence,
        version=options.version,
        attacks=benchmark.attacks,
        settings=_digest(settings, benchmark.extra_settings),
        taskshield=__version__,
        agentdojo=AGENTDOJO,
    )


def _digest(*settings: str) -> str:
    """A hash of the settings. They are not stored, because addresses may contain secrets."""
    return hashlib.sha256(json.dumps(settings).encode()).hexdigest()[:12] if any(settings) else ""


def _judge_name(shield: "Shield") -> str:
    """The name of the judge, with its LLM."""
    settings = shield.settings
    return str(settings.judge) if settings.llm is None else f"{settings.judge}+{settings.llm}"


def _test_shield(shield: "Shield") -> None:
    """Ask the judge once. Otherwise a wrong key would show only after a thousand outages.

    A cascade is also asked about a payment, which it never decides without its LLM.
    """
    session = shield.session()
    decisions = [session.user("Tell me the time.")]
    if shield.settings.llm is not None:
        decisions.append(session.tool_call("send_money", {"amount": 1}))
    for decision in decisions:
        if decision.outage is not None:
            raise ConfigError(
                f"The judge gave no verdict ({decision.outage.kind}): {decision.outage.detail}"
            )
        if decision.case.trace.usage.fallbacks:
            raise ConfigError(
                f"The LLM of the cascade gave no verdict. Only {decision.judge} answered."
            )
