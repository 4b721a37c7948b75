"""The report on a whole conversation, for people. Pure: from an outcome to what rich prints."""

from collections.abc import Iterator, Mapping

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from taskshield.adapters.conversations.detect import Format
from taskshield.cli.check.step_report import step
from taskshield.cli.check_result import Outcome, Verdict
from taskshield.cli.styles import (
    ALIGNED,
    GOAL,
    LOOK_LENGTH,
    MINOR,
    MISALIGNED,
    NAME_LENGTH,
    WARNING,
)
from taskshield.core.decisions import Decision
from taskshield.core.safe_text import one_line

_FORMATS: Mapping[Format, str] = {
    "openai-chat": "OpenAI chat",
    "anthropic-messages": "Anthropic messages",
    "taskshield": "taskshield's own",
}
_VERDICTS: Mapping[Verdict, Text] = {
    "aligned": Text("ALIGNED", f"bold {ALIGNED}"),
    "misaligned": Text("MISALIGNED", MISALIGNED),
    "outage": Text("OUTAGE", WARNING),
}


def report(outcome: Outcome, *, problems_only: bool = False) -> RenderableType:
    """All messages with their verdicts, or only those with a problem."""
    shown = [each for each in outcome.decisions if not problems_only or _has_problem(each)]
    parts: list[RenderableType] = [_heading(outcome), _goals(outcome)]
    if shown:
        parts.append(_steps(shown, outcome))
    return Group(*parts, _summary(outcome))


def _has_problem(decision: Decision) -> bool:
    return bool(decision.misaligned or decision.outage is not None or decision.unreadable)


def _heading(outcome: Outcome) -> RenderableType:
    count = _counted(len(outcome.decisions), "message")
    judge = one_line(outcome.judge, NAME_LENGTH)
    about = f"  {_FORMATS[outcome.format]}, {count}, judged by {judge}"
    return Text.assemble((one_line(outcome.file, 200), "bold"), (about, MINOR))


def _goals(outcome: Outcome) -> RenderableType:
    """The tasks and objectives that steps must serve."""
    rows = Table.grid(padding=(0, 2, 0, 0))
    rows.add_column(no_wrap=True)
    rows.add_column()
    for task in outcome.tasks:
        text = Text(one_line(task.text, LOOK_LENGTH))
        if task.grant is not None:
            source = one_line(task.grant.source, LOOK_LENGTH)
            scope = one_line(task.grant.scope, LOOK_LENGTH)
            text.append(f"\ngrants {source}: {scope}", MINOR)
        rows.add_row(Text(task.id, GOAL), text)
    for objective in outcome.objectives:
        text = Text.assemble(one_line(objective.text, LOOK_LENGTH), ("  (system)", MINOR))
        rows.add_row(Text(objective.id, GOAL), text)
    if not len(outcome.tasks):
        rows.add_row(Text("no task", WARNING), Text("The user has not given any task yet."))
    return Padding(rows, (1, 0))


def _steps(decisions: list[Decision], outcome: Outcome) -> RenderableType:
    rows = Table.grid(padding=(0, 2, 0, 0))
    rows.add_column(justify="right", style=MINOR, no_wrap=True)
    rows.add_column(no_wrap=True)
    rows.add_column(ratio=1)
    for previous, decision in zip((None, *decisions), decisions, strict=False):
        if previous is not None and _has_problem(previous):
            rows.add_row()
        style = MISALIGNED if decision.misaligned else "bold"
        level = Text(decision.case.message.level.value, style)
        rows.add_row(Text(str(decision.case.index)), level, step(decision, outcome.tainted))
    return Padding(rows, (0, 0, 1, 0))


def _summary(outcome: Outcome) -> RenderableType:
    rows = Table.grid(padding=(0, 2, 0, 0))
    rows.add_column(no_wrap=True)
    rows.add_column()
    counters, usage = outcome.counters, outcome.usage
    checks = f"{counters.executed} executed, {counters.skipped} skipped, {counters.failed} failed"
    rows.add_row(_VERDICTS[outcome.verdict], Text(", ".join(_result(outcome))))
    rows.add_row(Text("checks", MINOR), Text(checks))
    spent = (
        f"{_counted(usage.calls, 'LLM call')}, {_counted(usage.tokens, 'token')}"
        f" ({usage.prompt_tokens:,} in, {usage.completion_tokens:,} out),"
        f" {outcome.elapsed_ms / 1000:.1f} s"
    )
    rows.add_row(Text("spent", MINOR), Text(spent))
    if usage.saved:
        saved = f"{_counted(usage.saved, 'message')} judged without the LLM"
        rows.add_row(Text("saved", MINOR), Text(saved))
    if usage.fallbacks:
        failed = f"no verdict on {_counted(usage.fallbacks, 'message')}"
        rows.add_row(Text("LLM out", WARNING), Text(f"{failed}; the embedded judge's counts"))
    return rows


def _result(outcome: Outcome) -> Iterator[str]:
    total = _counted(len(outcome.decisions), "message")
    failed = outcome.counters.failed
    if outcome.misaligned:
        yield f"{outcome.misaligned} of {total}"
    else:
        yield f"nothing misaligned in {total}"
    if failed:
        yield f"{failed} could not be checked"
    unreadable = sum(len(decision.unreadable) for decision in outcome.decisions)
    if unreadable:
        yield f"{_counted(unreadable, 'part')} unreadable"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
