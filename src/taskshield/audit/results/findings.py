"""Findings: the stored rows about misaligned calls, plans and directives."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from taskshield.audit.logs.entries import Recorded
from taskshield.core.decisions import LET_THROUGH, Decision, Finding
from taskshield.core.levels import Level
from taskshield.core.messages import digest
from taskshield.stores.secrets.redaction import redacted

Kind = Literal["call", "plan", "directive"]
"""What is misaligned.

- call: a tool call of the agent
- plan: text of the agent that announces an action
- directive: text in the output of a tool
"""
_ID_LENGTH = 32
_DIGITS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One finding, as a line of the results."""

    conversation: str
    file: str
    line: int
    format: str
    message: int
    """Number of the message in the conversation, counted from 0."""
    level: str
    kind: Kind
    tool: str | None
    """The called tool, or the tool with this output."""
    tier: str | None
    """Risk tier of a call."""
    authorisation: str | None
    """How far the user's words carry it."""
    action: str
    """The action that the shield would have taken."""
    held: bool
    """Whether the shield would have blocked it."""
    score: float
    """How far it serves the user's tasks, in total."""
    threshold: float
    """What the score had to exceed."""
    planted_in: int | None
    """For a call or a plan: the number of the message with the directive that explains it."""
    reason: str
    decision: str
    """Id of the decision on the message. It is made from its place, so it is reproducible."""
    judge: str
    sha256: str
    """Hash of the text."""
    text: str | None
    """The call or the text. Only with `with_text`."""


def rows(decision: Decision, source: Recorded, *, with_text: bool) -> Iterator[Row]:
    """The findings of one decision.

    Args:
        decision: On a message of the conversation.
        source: The conversation.
        with_text: Whether texts are stored. Secrets are always removed.
    """
    for finding in decision.findings:
        if finding.aligned and finding not in decision.stopped:
            continue
        injected_in = _planted_in(finding, decision)
        text = finding.instruction.text
        yield Row(
            conversation=source.id,
            file=source.file,
            line=source.line,
            format=source.format,
            message=decision.case.index,
            level=finding.instruction.level.value,
            kind=_kind(finding),
            tool=finding.instruction.origin.tool,
            tier=None if finding.tier is None else finding.tier.value,
            authorisation=finding.authorisation,
            action=finding.action,
            held=finding.action not in LET_THROUGH,
            score=round(finding.total, _DIGITS),
            threshold=round(finding.epsilon, _DIGITS),
            planted_in=injected_in,
            reason=redacted(finding.reason) if with_text else _reason(finding, injected_in),
            decision=_id(source, decision.case.index),
            judge=decision.judge,
            sha256=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
            text=redacted(text) if with_text else None,
        )


def _kind(finding: Finding) -> Kind:
    if finding.call_id is not None:
        return "call"
    return "directive" if finding.instruction.level is Level.TOOL else "plan"


def _planted_in(finding: Finding, decision: Decision) -> int | None:
    if finding.taint is None:
        return None
    target = finding.taint.target
    tainted = (item.instruction for item in decision.case.tainted if item.id == target)
    return next((instruction.origin.message for instruction in tainted), None)


def _reason(finding: Finding, injected_in: int | None) -> str:
    """A reason without text of the conversation, which the judge's own reason quotes."""
    if finding.contradictions:
        return "It goes against words of the user or the operator."
    if finding.aligned:
        return "It serves the user's tasks, and policy holds such calls back."
    if finding.instruction.level is Level.TOOL:
        return (
            "The output of a tool gives the agent a directive that serves none of the user's tasks."
        )
    if injected_in is not None:
        return f"A directive in message {injected_in} explains it better than the user's tasks do."
    if not finding.scores:
        return "The user has not given any task yet."
    if finding.total > finding.epsilon:
        return "It serves a task of the user, but not the purpose in the system message."
    return "It serves none of the user's tasks."


def _id(source: Recorded, index: int) -> str:
    return digest(source.file, str(source.line), source.id, str(index))[:_ID_LENGTH]
