"""Claude Code hooks: from decisions to answers.

An aligned call gets no permission decision at all, but an empty answer: "allow" would skip the
prompts by which the user grants permissions himself, and that a call serves the task does not mean
that the user wants to give it away. Only who asks for it gets "allow".

Claude Code takes an HTTP status, an exit status or JSON that it does not expect for a hook that
failed, and goes on without it. So when no decision could be made, `broken` says so in an answer
that stops what would go on unchecked.
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


def broken(event: Event | None, why: str) -> dict[str, object]:
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
    """No word of the output reaches the model; an error cannot be replaced, so there all stops."""
    if event.event == "PostToolUseFailure":
        return {"continue": False, "stopReason": reason}
    answer = _replaced(event, withheld(event.response))
    return {"decision": "block", "reason": reason, **answer}


def _replaced(event: ToolResult, output: object, **more: str) -> dict[str, object]:
    """An output in place of the tool's own. Older versions know another name for it."""
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
    """What the user is asked; feedback is meant for the agent."""
    if decision.outage is not None:
        return "Task Shield could not check whether this call serves your request."
    reasons = (one_line(finding.reason, _REASON_LENGTH) for finding in decision.misaligned)
    return f"Task Shield: this call does not seem to serve your request. {' '.join(reasons)}"
