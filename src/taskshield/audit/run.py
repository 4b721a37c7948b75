"""Runs an audit, from the log files to the report.

files = tuple(find(["logs"], besides=Path("results")))
summary = run(Audit(files=files, out=Path("results")))
print(summary.findings, summary.attacks["blocked"])
"""

import asyncio
import hashlib
import json
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from taskshield._version import __version__
from taskshield.audit.logs import reader
from taskshield.audit.logs.input_files import Input
from taskshield.audit.replay import workers
from taskshield.audit.replay.checker import Plan
from taskshield.audit.results import files as results
from taskshield.audit.results import parquet
from taskshield.audit.results.files import Done, Header
from taskshield.audit.results.outcomes import Result
from taskshield.audit.results.report import markdown
from taskshield.audit.results.summary import Summary, as_json, summarise
from taskshield.core.assessments import Trace
from taskshield.core.errors import ConfigError
from taskshield.settings import Settings

SUMMARY = "summary.json"
REPORT = "report.md"
_HASH_LENGTH = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """The settings of an audit."""

    files: tuple[Input, ...]
    out: Path
    plan: Plan = Plan()
    workers: int | None = None
    """Processes, or actors of a cluster. None takes one, or all processors of the cluster."""
    ray: str | None = None
    """Address of a Ray cluster. "local" starts one on this machine."""
    limit: int | None = None
    """Stop after this many conversations."""
    resume: bool = False
    """Whether to continue the audit in the folder of the results."""


ResultCallback = Callable[[Result], None]
"""Called with each result after it is written."""


def run(audit: Audit, on_result: ResultCallback = lambda result: None) -> Summary:
    """Audit the entries that have no result, and write all files of the results.

    Raises:
        TaskShieldError: A setting is wrong, a package is missing, or the files cannot be written.
    """
    parquet.require()
    check_all = _checking_function(audit)
    header = _header(audit)
    writing, done = results.open_results(audit.out, header, resume=audit.resume)
    with closing(writing):
        left = audit.limit
        with closing(check_all(_remaining_entries(audit, done))) as found:
            while left != 0 and (result := next(found, None)) is not None:
                writing.add(result)
                on_result(result)
                left = left - 1 if left is not None and result.counts else left
    return _write_results(audit.out, header)


_RemainingEntries = list[tuple[Input, int]]
"""Files, each with the number of its entries that have a result."""


def _remaining_entries(audit: Audit, done: Done) -> _RemainingEntries:
    return [
        (file, done.entries.get(file.name, 0))
        for file in audit.files
        if file.name not in done.ended
    ]


def _checking_function(audit: Audit) -> Callable[[_RemainingEntries], Generator[Result]]:
    """The function that checks entries: here, or on a cluster.

    Raises:
        MissingExtraError: Ray is not installed.
    """
    if audit.ray is None:
        return partial(_check_here, audit)
    from taskshield.audit.replay import ray_cluster  # brings Ray

    return partial(ray_cluster.check_all, plan=audit.plan, address=audit.ray, actors=audit.workers)


def _check_here(audit: Audit, todo: _RemainingEntries) -> Generator[Result]:
    entries = (entry for file, known in todo for entry in islice(reader.entries(file), known, None))
    count = 1 if audit.workers is None else audit.workers
    return workers.check_all(entries, audit.plan, workers=count)


def _header(audit: Audit) -> Header:
    """The header of the journal. The shield is tested first, so that wrong settings fail early."""
    settings, trace = asyncio.run(_test_shield(audit.plan))
    hashed = settings.model_dump_json(exclude={"judge", "api_key"})
    return Header(
        taskshield=__version__,
        judge=settings.judge if settings.llm is None else f"{settings.judge}+{settings.llm}",
        version=trace.prompt,
        settings=hashlib.sha256(hashed.encode()).hexdigest()[:_HASH_LENGTH],
        with_text=audit.plan.with_text,
        files={file.name: file.size for file in audit.files},
    )


async def _test_shield(plan: Plan) -> tuple[Settings, Trace]:
    """Ask the judge once. Otherwise a wrong key would show only after a thousand outages."""
    async with plan.shield() as shield:
        decision = await shield.session().user("Tell me the time.")
        if decision.outage is not None:
            raise ConfigError(
                f"The judge gave no verdict ({decision.outage.kind}): {decision.outage.detail}"
            )
        return shield.settings, decision.case.trace


def _write_results(folder: Path, header: Header) -> Summary:
    """Write the files that are made from all results."""
    summary = summarise(folder)
    parquet.write(folder)
    judge = f"{header.judge} {header.version}".strip()
    (folder / SUMMARY).write_text(f"{json.dumps(as_json(summary), indent=2)}\n", encoding="utf-8")
    (folder / REPORT).write_text(markdown(summary, judge), encoding="utf-8")
    return summary
