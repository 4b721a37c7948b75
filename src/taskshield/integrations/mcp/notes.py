"""Texts of a gateway for agents, clients and people, in addition to the shield's feedback."""

from collections.abc import Mapping

from taskshield.core.decisions import Decision
from taskshield.core.safe_text import one_line
from taskshield.integrations.mcp.requests.approval import Answer

_LENGTH = 300
_MARK = "[Task Shield]"

NO_TASK = (
    f"{_MARK} This gateway does not know the user's task, so it cannot check whether a call serves"
    " it."
)
"""For agents and people, if the user's task is not known."""
HOW_TO_NAME_A_SESSION = (
    'A client can name a session of the taskshield server in `_meta["taskshield/session"]` or in'
    " the header x-taskshield-session."
)
NAME_A_SESSION = f"{NO_TASK} {HOW_TO_NAME_A_SESSION}"
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
QUESTION_REFUSED = (
    f"{_MARK} The server asked a question that was refused: it tries to direct the agent, or it"
    " could not be checked."
)
UNREADABLE_ANSWER = "The wrapped server's answer cannot be read."
ANSWERS: Mapping[Answer, str] = {
    "unavailable": "This client cannot ask its user for an approval.",
    "declined": "The user declined this call. Do not try it again.",
    "approved": "The user approved this call, but this gateway may not approve calls.",
}
"""For the agent, by the answer of the person who decided on its call."""

POISONED = "its description tries to direct the agent"
CHANGED = "it has changed since it was pinned, and the change was not accepted"
UNLISTED = "the server does not list it"
UNREADABLE = "its definition cannot be read"
UNCHECKED = "its definition could not be checked"
UNSEEN = "its name has characters that cannot be seen or are not what they look like"
ALIKE = "another tool has the same name, or one that looks the same"
NAME_REMOVED = "(a tool whose name is not repeated)"


def blocked_tool(reason: str) -> str:
    """For the agent that calls a tool which it may not use."""
    return f"{_MARK} This call was blocked. The tool cannot be used: {reason}. Continue without it."


def blocked_without_task() -> str:
    """For the agent whose call was blocked because the user's task is not known."""
    return f"{NO_TASK} For this reason the call was blocked. {HOW_TO_NAME_A_SESSION}"


def blocked(decision: Decision, note: str) -> str:
    """For the agent whose call was blocked.

    Args:
        decision: The decision on the call.
        note: The answer of the person who was asked; empty if no one was.
    """
    why = "" if decision.outage is None else f"Why: {decision.outage.detail.removesuffix('.')}."
    return "\n\n".join(part for part in (decision.content, note, why) if part)


def question(decision: Decision) -> str:
    """For the person who decides on a call. Words of the call cannot hide parts of the question."""
    calls = ", ".join(one_line(verdict.call.describe(), _LENGTH) for verdict in decision.calls)
    if decision.outage is not None:
        return (
            f"Task Shield could not check whether this call serves your request: {calls}. Run it?"
        )
    reasons = " ".join(one_line(each.reason, _LENGTH) for each in decision.stopped)
    if decision.authorisation == "contradicted":
        why = "this call goes against your words"
    elif not decision.misaligned:
        why = f"policy asks you about such calls ({decision.authorisation})"
    else:
        why = "this call does not seem to serve your request"
    return f"Task Shield: {why}. Run it once anyway?\nCall: {calls}\nReason: {reasons}"
