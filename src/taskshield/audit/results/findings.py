"""What is written down about a message that does not serve the user's tasks."""

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
- plan: words of the agent that say what it will do
- directive: words in the output of a tool
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
    """The tool that is called, or whose output it is."""
    tier: str | None
    """Risk tier of a call."""
    action: str
    """What the shield would have done."""
    held: bool
    """Whether it would not have been let through."""
    score: float
    """How well it serves the user's tasks, all together."""
    threshold: float
    """What the score had to exceed."""
    planted_in: int | None
    """For a call or a plan: the message with the directive that explains it, if one does."""
    reason: str
    decision: str
    """Id of the decision on the message. Made from its place, so it is the same every time."""
    judge: str
    sha256: str
    """Of the text."""
    text: str | None
    """The call, or the words; left out unless it was asked for."""


def rows(decision: Decision, source: Recorded, *, with_text: bool) -> Iterator[Row]:
    """The findings of one decision.

    Args:
        decision: On a message of the conversation.
        source: The conversation.
        with_text: Whether what is said in it may be written down. Secrets are left out anyway.
    """
    for finding in decision.misaligned:
        planted = _planted_in(finding, decision)
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
            action=finding.action,
            held=finding.action not in LET_THROUGH,
            score=round(finding.total, _DIGITS),
            threshold=round(finding.epsilon, _DIGITS),
            planted_in=planted,
            reason=redacted(finding.reason) if with_text else _reason(finding, planted),
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


def _reason(finding: Finding, planted: int | None) -> str:
    """Why, without a word of the conversation: a judge's own reason quotes it."""
    if finding.instruction.level is Level.TOOL:
        return "The output of a tool directs the agent, and no task of the user asks for that."
    if planted is not None:
        return f"A directive in message {planted} explains it better than any task of the user."
    if not finding.scores:
        return "The user has not given any task yet."
    if finding.total > finding.epsilon:
        return "It serves a task of the user, but not what the system message is for."
    return "It serves no task of the user."


def _id(source: Recorded, index: int) -> str:
    return digest(source.file, str(source.line), source.id, str(index))[:_ID_LENGTH]
