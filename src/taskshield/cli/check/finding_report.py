"""One finding of the report: the instruction, its scores and the action.

Pure: from core values to what rich prints. Texts of the conversation pass through `visible` and
become `Text`, which ignores markup.
"""

from collections.abc import Mapping

from rich.console import Group, RenderableType
from rich.text import Text

from taskshield.cli.styles import (
    GLIMPSE_LENGTH,
    GOAL,
    LOOK_LENGTH,
    MINOR,
    MISALIGNED,
    NAME_LENGTH,
)
from taskshield.core.assessments import Score
from taskshield.core.decisions import Action, Decision, Finding
from taskshield.core.instructions import TaintedDirective
from taskshield.core.messages import ToolCall
from taskshield.core.safe_text import one_line


def aligned(finding: Finding, decision: Decision) -> RenderableType:
    """A short report on an aligned finding, with the action where policy stops it."""
    lines = [_subject(finding, decision, GLIMPSE_LENGTH), _scores(finding)]
    if finding.action != "allow":
        lines.append(action_taken(finding.action, decision))
    return Group(*lines)


def misaligned(
    finding: Finding, decision: Decision, tainted: Mapping[str, TaintedDirective]
) -> RenderableType:
    """A full report on a misaligned finding, with the reason and the action."""
    lines = [
        _subject(finding, decision, LOOK_LENGTH),
        _scores(finding),
        Text.assemble(("reason: ", MINOR), one_line(finding.reason, LOOK_LENGTH)),
    ]
    if finding.taint is not None:
        directive = tainted[finding.taint.target]
        where = f"{directive.id}, found in message {directive.instruction.origin.message}: "
        words = one_line(directive.instruction.text, LOOK_LENGTH)
        lines.append(Text.assemble((where, MINOR), words))
    lines.append(action_taken(finding.action, decision))
    return Group(*lines)


def tool_call(call: ToolCall, limit: int) -> Text:
    """A tool call in one line."""
    name = one_line(call.name, NAME_LENGTH)
    return Text.assemble((name, "bold"), "(", one_line(call.arguments, limit), ")")


def action_taken(action: Action, decision: Decision) -> Text:
    """The action, and the feedback round if it is one."""
    line = Text.assemble(("action: ", MINOR), (action, "bold"))
    if action == "revise" and decision.round is not None:
        line.append(f", round {decision.round} of {decision.case.policy.rounds}", MINOR)
    return line


def _subject(finding: Finding, decision: Decision, limit: int) -> Text:
    if finding.call_id is None:
        return Text(one_line(finding.instruction.text, limit))
    return tool_call(decision.case.message.call(finding.call_id), limit)


def _scores(finding: Finding) -> Text:
    """Risk tier, the score for each target, and how the total compares to the threshold."""
    compared = " >" if finding.total > finding.epsilon else ", not >"
    pieces = [Text(finding.authorisation)]
    pieces += [] if finding.tier is None else [Text(finding.tier.value)]
    pieces += [_score(score, GOAL) for score in finding.scores]
    pieces.append(Text(f"total={finding.total:.2f}{compared} {finding.epsilon:.2f}"))
    pieces += [_score(score, GOAL) for score in finding.objective_scores]
    if finding.taint is not None:
        pieces.append(_score(finding.taint, MISALIGNED))
    line = Text("  ").join(pieces)
    line.stylize_before(MINOR)
    return line


def _score(score: Score, style: str) -> Text:
    return Text.assemble((one_line(score.target, NAME_LENGTH), style), f"={score.value:.2f}")
