"""Claude Code hooks: from decisions to answers.

An aligned call gets an empty answer and no permission decision: "allow" would skip the prompts in
which the user grants permissions, and a call that serves the task may still need one. "allow" is
given only where the caller of `render` asks for it.

Claude Code treats an unexpected HTTP status, exit status or JSON as a failed hook, and continues
without it. When no decision could be made, the answer of `render_failure` therefore stops the step,
so that nothing continues unchecked.
"""

from typing import assert_never

from taskshield.adapters.claude_code.events import (
    Event,
    OtherEvent,
    ToolResult,
    ToolUse,
    UserPrompt,
)
from taskshield.adapters.output_redaction import note, redacted, withheld
from taskshield.core.decisions import LET_THROUGH, Decision
from taskshield.core.safe_text import one_line

_REASON_LENGTH = 300
_COPIES = frozenset({"persistedOutputPath", "persistedOutputSize"})
"""Where Claude Code has put a long output in a file; left there, it would show the original."""


def render(event: Event, decision: Decision, *, grant: bool = False) -> dict[str, object]:
    """The answer to an event.

    Args:
        event: The event to answer.
        decision: On the event's message.
        grant: Whether an aligned call is to be allowed without asking the user for permission.
    """
    match event:
        case ToolUse():
            return _on_call(decision, grant)
        case ToolResult():
            return _on_result(event, decision)
        case UserPrompt() | OtherEvent():
            return {}
        case _ as unreachable:
            assert_never(unreachable)


def render_failure(event: Event | None, why: str) -> dict[str, object]:
    """The answer when nothing could be decided: the event was not understood, or a part failed.

    Args:
        event: The event to answer; None where it could not be read.
        why: One sentence for people.
    """
    reason = f"[Task Shield] Not checked: {why}"
    match event:
        case None:
            return {"continue": False, "stopReason": reason}
        case UserPrompt():
            return {"decision": "block", "reason": reason}
        case ToolUse():
            return _permission("deny", reason)
        case ToolResult():
            return _withheld(event, reason)
        case OtherEvent():
            return {}
        case _ as unreachable:
            assert_never(unreachable)


def _on_call(decision: Decision, grant: bool) -> dict[str, object]:
    if decision.action == "escalate":
        return _permission("ask", _question(decision))
    if decision.action not in LET_THROUGH:
        return _permission("deny", decision.content)
    if decision.check == "failed":
        return {"systemMessage": "Task Shield could not check this call and lets it pass."}
    if grant and not decision.misaligned:
        return _permission("allow", "Task Shield: the call serves the user's tasks.")
    return {}


def _on_result(event: ToolResult, decision: Decision) -> dict[str, object]:
    match decision.action:
        case "annotate":
            return _specific(event.event, additionalContext=note(decision))
        case "redact":
            if event.event == "PostToolUseFailure":
                return _withheld(event, note(decision))
            output = redacted(event.response, decision)
            return _replaced(event, output, additionalContext=note(decision))
        case "withhold":
            return _withheld(event, note(decision))
        case _:
            return {}


def _withheld(event: ToolResult, reason: str) -> dict[str, object]:
    """Hide the whole output from the model. Errors cannot be replaced, so they stop the agent."""
    if event.event == "PostToolUseFailure":
        return {"continue": False, "stopReason": reason}
    answer = _replaced(event, withheld(event.response))
    return {"decision": "block", "reason": reason, **answer}


def _replaced(event: ToolResult, output: object, **more: str) -> dict[str, object]:
    """Replace the tool's output. Older versions of Claude Code use another name for the field."""
    if isinstance(output, dict):
        output = {key: value for key, value in output.items() if key not in _COPIES}
    names = ["updatedToolOutput"]
    if event.of_server:
        names.append("updatedMCPToolOutput")
    return _specific(event.event, **dict.fromkeys(names, output), **more)


def _permission(decision: str, reason: str) -> dict[str, object]:
    return _specific("PreToolUse", permissionDecision=decision, permissionDecisionReason=reason)


def _specific(event: str, **members: object) -> dict[str, object]:
    return {"hookSpecificOutput": {"hookEventName": event, **members}}


def _question(decision: Decision) -> str:
    """The question for the user. Feedback is for the agent."""
    if decision.outage is not None:
        return "Task Shield could not check whether this call serves your request."
    reasons = " ".join(one_line(finding.reason, _REASON_LENGTH) for finding in decision.stopped)
    if decision.authorisation == "contradicted":
        return f"Task Shield: this call goes against your words. {reasons}"
    if not decision.misaligned:
        return (
            f"Task Shield: policy asks you about such calls ({decision.authorisation}). {reasons}"
        )
    return f"Task Shield: this call does not seem to serve your request. {reasons}"
