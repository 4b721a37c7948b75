"""Asks the user, through the client, whether a blocked call may run.

Clients of older protocols get the question while they wait for the result. Newer ones get the
question as the result, and repeat the request with the user's answer.
"""

from collections.abc import Mapping
from typing import Any, Literal

from mcp import MCPError

from taskshield.core.decisions import Decision
from taskshield.integrations.mcp import notes
from taskshield.integrations.mcp.requests.client_request import Params, Request

Answer = Literal["approved", "declined", "unavailable", "later"]
"""A person's answer about a call.

- approved, declined: the user's answer
- unavailable: the client cannot ask its user
- later: the client gets the question as its result
"""

_QUESTION = "taskshield/approval"
"""The key of our question among those that a client gets."""


async def ask_user(request: Request, decision: Decision) -> Answer:
    """Ask the user whether a blocked call may run."""
    if _QUESTION in _responses(request.params):
        return _read(_responses(request.params)[_QUESTION])
    if not request.can_ask_user:
        return "unavailable"
    if request.modern:
        return "later"
    try:
        answer = await request.client.send_raw_request("elicitation/create", _form(decision))
    except MCPError:
        return "unavailable"
    return _read(answer)


def question_as_result(decision: Decision) -> dict[str, Any]:
    """The question as the result of a request."""
    question = {"method": "elicitation/create", "params": _form(decision)}
    return {"resultType": "input_required", "inputRequests": {_QUESTION: question}}


def without_answer(params: Params) -> dict[str, Any]:
    """The params for the server, without the user's answer to our question."""
    responses = {key: value for key, value in _responses(params).items() if key != _QUESTION}
    others = {key: value for key, value in params.items() if key != "inputResponses"}
    return {**others, "inputResponses": responses} if responses else others


def _form(decision: Decision) -> dict[str, Any]:
    """A form without fields: to accept it is to approve the call."""
    return {
        "message": notes.question(decision),
        "requestedSchema": {"type": "object", "properties": {}},
    }


def _responses(params: Params) -> Mapping[str, Any]:
    given = params.get("inputResponses")
    return given if isinstance(given, Mapping) else {}


def _read(answer: object) -> Answer:
    accepted = isinstance(answer, Mapping) and answer.get("action") == "accept"
    return "approved" if accepted else "declined"
