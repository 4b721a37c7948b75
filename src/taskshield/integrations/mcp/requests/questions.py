"""Questions of a server: to the client's model, to its user, about its folders.

They arrive as requests of the server or, in newer protocols, as the result of a request. What they
say is judged like a tool's output, because a model or a person reads it; a question that tries to
direct the agent, or that could not be judged, is refused.
"""

from collections.abc import Mapping
from typing import Any

import anyio.to_thread

from taskshield.core.errors import WireFormatError
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Opaque, Part, Text
from taskshield.integrations.mcp.checks.protocols import Session
from taskshield.integrations.mcp.requests.approval import QUESTION
from taskshield.integrations.mcp.requests.client_request import Request
from taskshield.integrations.mcp.requests.results import CALL, PROMPT, READ
from taskshield.integrations.mcp.words.contents import words_of

WORDLESS = frozenset({"ping", "roots/list"})
"""Requests that need no params."""
_SPOKEN = frozenset(
    {
        *("elicitation/create", "sampling/createMessage"),
        *("tasks/cancel", "tasks/get", "tasks/list", "tasks/result"),
    }
)
_INTERACTIVE = frozenset({CALL, PROMPT, READ})
"""Requests that a server may answer with questions."""
_MOST_QUESTIONS = 20
"""Most questions in one result."""
_LONGEST_STATE = 65_536
"""Most characters of the state that the client sends back."""

Result = Mapping[str, Any]


def is_known(method: str) -> bool:
    """Whether a server may send requests with this method."""
    return method in WORDLESS or method in _SPOKEN


def asks(request: Request, result: Result) -> bool:
    """Whether a result needs input from the client first, and the client knows such results."""
    return (
        request.modern
        and request.method in _INTERACTIVE
        and result.get("resultType") == "input_required"
    )


def split(result: Result) -> tuple[dict[str, Any], dict[str, Any]]:
    """The questions of a result, without those in the gateway's name, and all else that it says.

    Raises:
        WireFormatError: These are no questions.
    """
    state, given = result.get("requestState"), result.get("inputRequests")
    if not isinstance(state, str | None) or len(state or "") > _LONGEST_STATE:
        raise WireFormatError("result.requestState: a short string is needed")
    if not isinstance(given, Mapping | None) or len(given or ()) > _MOST_QUESTIONS:
        raise WireFormatError("result.inputRequests: an object is needed")
    asked = {
        key: question for key, question in (given or {}).items() if not key.startswith(QUESTION)
    }
    if not asked and state is None:
        raise WireFormatError("result: it has no question")
    questions: dict[str, Any] = {"resultType": "input_required"}
    if asked:
        questions["inputRequests"] = asked
    if state is not None:
        questions["requestState"] = state
    others = ("inputRequests", "requestState", "resultType")
    return questions, {key: value for key, value in result.items() if key not in others}


async def may_pass(session: Session, question: object) -> bool:
    """Whether a question, or an object with several, may reach the client.

    Args:
        session: The session that it belongs to.
        question: Its params, or the questions of a result.
    """
    try:
        words = await anyio.to_thread.run_sync(words_of, {"question": question})
    except WireFormatError:
        return False
    if not words.all:
        return True
    parts: list[Part] = [Text(text=text) for text in words.all]
    parts += [Opaque(kind=kind) for kind in words.unreadable]
    decision = await session.add(Message(level=Level.TOOL, parts=tuple(parts)))
    return decision.check != "failed" and decision.action in ("allow", "observe")


def methods_are_known(questions: Mapping[str, Any]) -> bool:
    """Whether the questions of a result are requests that a server may send."""
    given = questions.get("inputRequests", {})
    return all(
        isinstance(question, Mapping)
        and isinstance(question.get("method"), str)
        and is_known(question["method"])
        for question in given.values()
    )
