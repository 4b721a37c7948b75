"""What agents, clients and people are told by a gateway, besides what the shield says."""

from collections.abc import Mapping

from taskshield.core.decisions import Decision
from taskshield.core.safe_text import one_line

_LENGTH = 300
_MARK = "[Task Shield]"

NO_GOAL = (
    f"{_MARK} This gateway has not been told what the user wants, so it cannot check whether a"
    " call serves the user."
)
"""For everybody who has to do with a gateway without a goal."""
LINKING = (
    'A client can name a session of the taskshield server in `_meta["taskshield/session"]` or in'
    " the header x-taskshield-session."
)
INSTRUCTIONS_REMOVED = (
    f"{_MARK} The instructions of this server were removed: they try to direct the agent."
)
INSTRUCTIONS_UNCHECKED = (
    f"{_MARK} The instructions of this server are withheld: they could not be checked."
)
DESCRIPTION_REMOVED = (
    f"{_MARK} The description of this tool was removed: it tries to direct the agent."
)
DESCRIPTION_UNCHECKED = (
    f"{_MARK} The description of this tool is withheld: it could not be checked."
)

UNREADABLE_RESULT = f"{_MARK} This result is withheld: it cannot be checked."
WORDS: Mapping[str, str] = {
    "nobody": "Nobody could be asked through this client.",
    "declined": "A person was asked and did not approve. Do not try this call again.",
    "approved": "A person was asked and approved, but may not do so here.",
}
"""For the agent whose call was held back for a person."""

POISONED = "its description tries to direct the agent"
CHANGED = "it has changed since it was pinned, and nobody has accepted the change"
UNLISTED = "the server does not list it"
UNREADABLE = "its definition cannot be read"


def refused_tool(reason: str) -> str:
    """For the agent that calls a tool which it may not use."""
    return f"{_MARK} Not carried out. This tool cannot be used: {reason}. Go on without it."


def refused_without_goal() -> str:
    """For the agent whose call has no goal to be measured against."""
    return f"{NO_GOAL} Not carried out, because of this. {LINKING}"


def refused(decision: Decision, note: str) -> str:
    """For the agent whose call was not let through.

    Args:
        decision: On the call.
        note: What became of the question whether it may; empty where there was none.
    """
    why = "" if decision.outage is None else f"Why: {decision.outage.detail.removesuffix('.')}."
    return "\n\n".join(part for part in (decision.content, note, why) if part)


def question(decision: Decision) -> str:
    """For the person who is asked about a call; untrusted words can neither hide nor command."""
    calls = ", ".join(one_line(verdict.call.describe(), _LENGTH) for verdict in decision.calls)
    if decision.outage is not None:
        return (
            f"Task Shield could not check whether this call serves your request: {calls}. Run it?"
        )
    reasons = " ".join(one_line(each.reason, _LENGTH) for each in decision.misaligned)
    return (
        "Task Shield: this call does not seem to serve your request. Run it nevertheless, once?\n"
        f"Call: {calls}\nReason: {reasons}"
    )
