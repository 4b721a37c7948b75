"""What people and agents are told about calls that do not go on. Pure.

A note stands in the answer that the client sees, so what was said elsewhere is quoted in it, short
and on one line.
"""

import json
from collections.abc import Iterable

from taskshield.core.decisions import LET_THROUGH, Decision, Finding
from taskshield.core.safe_text import one_line
from taskshield.core.store import Approval

NOT_RUN = "[Task Shield] Removed and not run."
"""What a provider that keeps its answers is told about a call that the client never saw."""
SAME_IDS = (
    "[Task Shield] The tool calls of this message are removed: two of them share an id, so that"
    " nobody could tell their results apart."
)
STORED = (
    "[Task Shield] Tool calls of this stored answer are removed: they were refused, or the answer"
    " is not known here."
)

_QUOTED = 200


def note(decision: Decision, approval: Approval | None) -> str:
    """Why a message, or a part of it, does not go on.

    Args:
        decision: On the message.
        approval: What waits for a person, if anything does.
    """
    said = [f"[Task Shield {decision.id}] {_opening(decision)}"]
    said += (f"- {line}" for line in _held(decision))
    if approval is not None:
        until = approval.deadline.isoformat(timespec="seconds")
        said.append(
            f"A person is asked: approval {approval.id}, until {until}. Once it is approved, send"
            " the same request again; the same call then goes on, once."
        )
    return "\n".join(said)


def _opening(decision: Decision) -> str:
    if decision.check == "failed":
        return (
            "Removed, because it could not be checked whether it serves the user's tasks. This says"
            " nothing about the call itself; it may work later:"
        )
    return "Not carried out, because it does not serve the user's tasks:"


def _held(decision: Decision) -> Iterable[str]:
    if decision.check == "failed":
        return [_quoted(each.call.name) for each in decision.calls if not each.allowed]
    held = (finding for finding in decision.findings if finding.action not in LET_THROUGH)
    return [_described(decision, finding) for finding in held]


def _described(decision: Decision, finding: Finding) -> str:
    if finding.call_id is None:
        about = f"instruction {_quoted(finding.instruction.text)}"
    else:
        about = f"call {_quoted(decision.case.message.call(finding.call_id).name)}"
    return f"{about}: {_quoted(finding.reason)}"


def _quoted(text: str) -> str:
    return json.dumps(one_line(text, _QUOTED), ensure_ascii=False)
