"""Notes to people and agents about calls that were removed. Pure.

A note stands in the answer that the client sees. So text from elsewhere is quoted in it, cut short
and on one line.
"""

import json
from collections.abc import Iterable

from taskshield.core.decisions import Decision, Finding
from taskshield.core.safe_text import one_line
from taskshield.core.store import Approval
from taskshield.engine.feedback import why_stopped

NOT_RUN = "[Task Shield] Removed and not run."
"""The result of a call that was removed, for a provider that stores its answers."""
SAME_IDS = (
    "[Task Shield] The tool calls of this message were removed, because two of them share an id and"
    " their results could not be distinguished."
)
SAME_MEMBERS = (
    "[Task Shield] The tool calls of this message were removed, because the arguments of one give"
    " an argument twice, and tools could take the one value or the other."
)
STORED = (
    "[Task Shield] Tool calls of this stored response were removed: they were refused, or this"
    " server has not checked the response."
)

_QUOTED = 200


def note(decision: Decision, approval: Approval | None) -> str:
    """Why a message, or a part of it, was removed.

    Args:
        decision: On the message.
        approval: What waits for a person; None where nothing does.
    """
    lines = [f"[Task Shield {decision.id}] {_opening(decision)}"]
    lines += (f"- {line}" for line in _removed(decision))
    if approval is not None:
        until = approval.deadline.isoformat(timespec="seconds")
        lines.append(
            f"A person must approve this: approval {approval.id}, until {until}. After that, send"
            " the same request again. The same call is then allowed once."
        )
    return "\n".join(lines)


def _opening(decision: Decision) -> str:
    if decision.check == "failed":
        return (
            "Removed, because it could not be checked against the user's tasks. This says nothing"
            " about the call itself. Try again later:"
        )
    return why_stopped(decision.stopped)


def _removed(decision: Decision) -> Iterable[str]:
    if decision.check == "failed":
        return [_quoted(each.call.name) for each in decision.calls if not each.allowed]
    return [_described(decision, finding) for finding in decision.stopped]


def _described(decision: Decision, finding: Finding) -> str:
    if finding.call_id is None:
        about = f"instruction {_quoted(finding.instruction.text)}"
    else:
        verdict = decision.verdict_on(finding.call_id)
        pair = f"({verdict.authorisation}, {verdict.tier.value})"
        about = f"call {_quoted(verdict.call.name)} {pair}"
    return f"{about}: {_quoted(finding.reason)}"


def _quoted(text: str) -> str:
    return json.dumps(one_line(text, _QUOTED), ensure_ascii=False)
