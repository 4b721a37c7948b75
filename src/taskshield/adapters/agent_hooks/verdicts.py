"""Agent Hooks 0.1: from decisions to verdicts.

A verdict is "allow", "deny" or "transform". A misaligned call is denied at pre_tool_call. The host
returns the denial to its model as an error of the tool, so the agent can revise this call while the
other calls of the same response go on. The response that announced the calls (post_model_call)
passes with warnings: a denial there would drop the aligned calls too, and the model would not learn
why. A response without calls is denied as a whole when its text is blocked.

Hosts do not show warnings to the agent. Output that is text is therefore transformed into the
annotated text, so that the agent reads the feedback. Other values keep their shape.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, assert_never

from taskshield.adapters.agent_hooks.events import (
    AgentShutdown,
    AgentStartup,
    Event,
    Input,
    Output,
    PostModelCall,
    PostToolCall,
    PreModelCall,
    PreToolCall,
)
from taskshield.adapters.agent_hooks.parse import MAX_BYTES, MAX_DEPTH, depth
from taskshield.adapters.output_redaction import note, redacted, withheld
from taskshield.adapters.parsing.json_reader import Field
from taskshield.core.decisions import LET_THROUGH, Action, Decision, Finding
from taskshield.core.levels import Level

MISALIGNED = "taskshield:misaligned"
"""It does not serve the user's tasks."""
HELD_BACK = "taskshield:held_back"
"""It serves them, but policy stops calls of this authorisation and risk."""
UNCHECKED = "taskshield:unchecked"
"""No judge could check it."""
UNREADABLE = "taskshield:unreadable"
"""It holds images or other parts that no judge can read."""
TOO_LARGE = "taskshield:too_large"
"""The answer would be larger than answers may be."""
UNTRUSTED = "untrusted"
"""Label of data that holds misaligned directives, or may hold some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Concern:
    """A warning to the host. It does not change the decision."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Transform:
    """The one place of the target that is replaced."""

    path: str
    value: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer to an event."""

    decision: Literal["allow", "deny", "transform"] = "allow"
    reason: str | None = None
    message: str | None = None
    warnings: tuple[Concern, ...] = ()
    liftable: bool = False
    """Whether a person may lift a deny."""
    approval: str | None = None
    """Id of what a person is asked, for a deny that may be lifted."""
    transform: Transform | None = None
    labels: tuple[str, ...] = ()
    evidence: str | None = None
    """Id of the decision that it comes from."""

    def wire(self) -> dict[str, object]:
        """The verdict as JSON; what it does not have is left out."""
        members: dict[str, object | None] = {
            "decision": self.decision,
            "reason": self.reason,
            "message": self.message,
            "warnings": [
                {"reason": warning.reason, "message": warning.message} for warning in self.warnings
            ]
            or None,
            "approval": self._approval() if self.liftable else None,
            "transform": None
            if self.transform is None
            else {"path": self.transform.path, "value": self.transform.value},
            "evidence": None
            if self.evidence is None
            else {"artefact": f"urn:taskshield:decision:{self.evidence}"},
            "result_labels": list(self.labels) or None,
        }
        return {key: value for key, value in members.items() if value is not None}

    def _approval(self) -> Mapping[str, object]:
        return {} if self.approval is None else {"id": self.approval}


ALLOW = Verdict()


def render(event: Event, decision: Decision | None, approval: str | None = None) -> Verdict:
    """The verdict on an event.

    Args:
        event: The event to answer.
        decision: On the message that the event added, if it added one.
        approval: Id of what a person is asked, where the decision waits for one.
    """
    if decision is None:
        return ALLOW
    return _within_limits(_verdict(event, decision, approval))


def call_verdict(decision: Decision, id: str, approval: str | None = None) -> Verdict:
    """The verdict on one of the calls that a decision is about."""
    call = decision.verdict_on(id)
    own = tuple(finding for finding in decision.misaligned if finding.call_id == id)
    return _on_step(decision, call.action, own, approval)


def _verdict(event: Event, decision: Decision, approval: str | None) -> Verdict:
    payload = event.payload
    match payload:
        case AgentStartup() | AgentShutdown() | PreModelCall():
            return ALLOW
        case Input():
            if payload.message.level is Level.TOOL:
                return _on_output(decision, event.target["content"], "$target.content")
            return Verdict(evidence=decision.id, warnings=_warnings(decision, ()))
        case PostModelCall() if payload.message.tool_calls:
            warnings = _warnings(decision, decision.misaligned)
            return Verdict(evidence=decision.id, warnings=warnings)
        case PreToolCall():
            return call_verdict(decision, payload.call.id, approval)
        case PostToolCall():
            return _on_output(decision, event.target, "$target")
        case PostModelCall() | Output():
            return _on_step(decision, decision.action, decision.misaligned, approval)
        case _ as unreachable:
            assert_never(unreachable)


def _on_step(
    decision: Decision, action: Action, misaligned: Sequence[Finding], approval: str | None
) -> Verdict:
    if action in LET_THROUGH:
        return Verdict(evidence=decision.id, warnings=_warnings(decision, misaligned))
    liftable = action == "escalate"
    judged = MISALIGNED if misaligned else HELD_BACK
    return Verdict(
        decision="deny",
        reason=UNCHECKED if decision.check == "failed" else judged,
        message=decision.feedback,
        liftable=liftable,
        approval=approval if liftable else None,
        evidence=decision.id,
    )


def _on_output(decision: Decision, output: Field, path: str) -> Verdict:
    value = _replacement(decision, output)
    changed = value is not output.value
    warnings = list(_warnings(decision, ()))
    if decision.misaligned:
        warnings.insert(0, Concern(reason=MISALIGNED, message=note(decision)))
    return Verdict(
        decision="transform" if changed else "allow",
        warnings=tuple(warnings),
        transform=Transform(path=path, value=value) if changed else None,
        labels=() if decision.action == "allow" else (UNTRUSTED,),
        evidence=decision.id,
    )


def _replacement(decision: Decision, output: Field) -> object:
    """The value that replaces the output, or the same object where nothing changes."""
    match decision.action:
        case "annotate" | "redact" | "withhold" if isinstance(output.value, str):
            return decision.content
        case "redact":
            return redacted(output, decision)
        case "withhold":
            return withheld(output)
        case _:
            return output.value


def _warnings(decision: Decision, misaligned: Sequence[Finding]) -> tuple[Concern, ...]:
    """Warnings on a step that is not blocked."""
    found = [
        Concern(reason=MISALIGNED, message=f"{finding.instruction.text}: {finding.reason}")
        for finding in misaligned
    ]
    if decision.check == "failed":
        found.append(Concern(reason=UNCHECKED, message="The check could not be made."))
    if decision.unreadable:
        kinds = ", ".join(sorted(set(decision.unreadable)))
        found.append(Concern(reason=UNREADABLE, message=f"Not checked: {kinds}"))
    return tuple(found)


def _within_limits(verdict: Verdict) -> Verdict:
    """The verdict, or a deny where it would be larger than an answer may be."""
    wire = verdict.wire()
    size = len(json.dumps(wire, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    if size <= MAX_BYTES and depth(wire) <= MAX_DEPTH:
        return verdict
    return Verdict(
        decision="deny",
        reason=TOO_LARGE,
        message="The changed value would be larger or deeper than an answer may be.",
        evidence=verdict.evidence,
    )
