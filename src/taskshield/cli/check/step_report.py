"""One message of the report: its text, its findings and the feedback to the agent.

Pure: from a decision to what rich prints. Untrusted texts are treated as in `finding_report`.
"""

import re
from collections.abc import Iterator, Mapping

from rich.box import MINIMAL
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from taskshield.cli.check import finding_report
from taskshield.cli.styles import (
    ALIGNED,
    FEEDBACK_LENGTH,
    GLIMPSE_LENGTH,
    GOAL,
    LOOK_LENGTH,
    MINOR,
    MISALIGNED,
    NAME_LENGTH,
    WARNING,
)
from taskshield.core.decisions import Decision, Outage
from taskshield.core.instructions import TaintedDirective
from taskshield.core.levels import Level
from taskshield.core.safe_text import one_line, visible

_LABEL_WIDTH = len("MISALIGNED")

_Row = tuple[Text, RenderableType]
"""A label and its details."""


def step(decision: Decision, tainted: Mapping[str, TaintedDirective]) -> RenderableType:
    """The message: short if it is aligned, in full if not."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=_LABEL_WIDTH, no_wrap=True)
    grid.add_column()
    parts: list[RenderableType] = [grid]
    if decision.findings or decision.outage is not None:
        message = decision.case.message
        if message.text or not message.tool_calls:
            parts.insert(0, _words(decision))
    else:
        grid.add_row(_label(decision), _words(decision))
    for label, detail in _rows(decision, tainted):
        grid.add_row(label, detail)
    if decision.feedback is not None:
        parts.append(_feedback(decision.feedback))
    return Group(*parts)


def _label(decision: Decision) -> Text:
    """The label of a message without a judged instruction."""
    if decision.check == "skipped":
        return Text("skipped", MINOR)
    if decision.case.message.level is Level.USER:
        return Text(_new_tasks(decision), GOAL)
    return Text("aligned", ALIGNED)


def _new_tasks(decision: Decision) -> str:
    index = decision.case.index
    new = [each.id for each in decision.case.tasks if each.instruction.origin.message == index]
    if not new:
        return "no task"
    return new[0] if len(new) == 1 else f"{new[0]}-{new[-1]}"


def _words(decision: Decision) -> Text:
    message = decision.case.message
    words = one_line(message.text, GLIMPSE_LENGTH) or "(empty)"
    if message.level is not Level.TOOL:
        return Text(words)
    kind = "error" if message.is_error else "output"
    return Text.assemble((f"{kind} of {_source(decision)}: ", MINOR), words)


def _source(decision: Decision) -> str:
    call = decision.case.answered
    answers = decision.case.message.answers
    if call is not None:
        return f"{one_line(call.name, NAME_LENGTH)} ({one_line(call.id, NAME_LENGTH)})"
    return "unknown call" if answers is None else f"unknown call {one_line(answers, NAME_LENGTH)}"


def _rows(decision: Decision, tainted: Mapping[str, TaintedDirective]) -> Iterator[_Row]:
    for finding in decision.findings:
        if finding.aligned:
            yield Text("aligned", ALIGNED), finding_report.aligned(finding, decision)
        else:
            detail = finding_report.misaligned(finding, decision, tainted)
            yield Text("MISALIGNED", MISALIGNED), detail
    if decision.outage is not None:
        yield from _unjudged(decision.outage, decision)
    if decision.unreadable:
        kinds = one_line(", ".join(decision.unreadable), GLIMPSE_LENGTH)
        yield Text("unreadable", WARNING), Text(f"{kinds}: no judge can read this")


def _unjudged(outage: Outage, decision: Decision) -> Iterator[_Row]:
    kind = outage.kind.replace("_", " ")
    yield Text("OUTAGE", WARNING), Text(f"{kind}: {one_line(outage.detail, LOOK_LENGTH)}")
    for verdict in decision.calls:
        call = finding_report.tool_call(verdict.call, LOOK_LENGTH)
        action = Text.assemble(
            (f"{verdict.tier.value}  ", MINOR),
            finding_report.action_taken(verdict.action, decision),
        )
        yield Text("not judged", WARNING), Group(call, action)
    if decision.case.message.level is Level.USER:
        whole = Text("the whole message counts as one task", MINOR)
        yield Text(_new_tasks(decision), GOAL), whole
    elif not decision.calls:
        yield Text(), finding_report.action_taken(decision.action, decision)


def _feedback(feedback: str) -> RenderableType:
    """The feedback to the agent, without empty lines, behind a bar."""
    words = re.sub(r"\n{2,}", "\n", visible(feedback, FEEDBACK_LENGTH))
    quoted = Table(box=MINIMAL, show_header=False, show_edge=False, pad_edge=False, padding=0)
    quoted.add_column(width=0)
    quoted.add_column(style=MINOR)
    quoted.add_row("", Padding(Text(words), (0, 0, 0, 1)))
    return Group(Text("feedback to the agent:", MINOR), quoted)
