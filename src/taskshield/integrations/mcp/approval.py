"""Calls that need a person: the user is asked through the client, where it can do that.

Older clients are sent a question while they wait. Newer ones get the question as an answer, and
make the same request again with what the user said.
"""

from collections.abc import Mapping
from typing import Any, Literal

from mcp import MCPError

from taskshield.core.decisions import Decision
from taskshield.integrations.mcp import notes
from taskshield.integrations.mcp.requests import Params, Request

Word = Literal["approved", "declined", "nobody", "later"]
"""A person's word on a call.

- approved, declined: the user was asked
- nobody: the client cannot ask
- later: the client is to be answered with the question
"""

_QUESTION = "taskshield/approval"
"""Names our question among those that a client is asked."""


async def persons_word(request: Request, decision: Decision) -> Word:
    """Whether the user lets a call through that a decision holds back."""
    if _QUESTION in _responses(request.params):
        return _read(_responses(request.params)[_QUESTION])
    if not request.can_ask_people:
        return "nobody"
    if request.modern:
        return "later"
    try:
        said = await request.client.send_raw_request("elicitation/create", _form(decision))
    except MCPError:
        return "nobody"
    return _read(said)


def asking(decision: Decision) -> dict[str, Any]:
    """The question as the answer to a request."""
    question = {"method": "elicitation/create", "params": _form(decision)}
    return {"resultType": "input_required", "inputRequests": {_QUESTION: question}}


def without_word(params: Params) -> dict[str, Any]:
    """The params for the server, without what the user said to us."""
    said = {key: value for key, value in _responses(params).items() if key != _QUESTION}
    rest = {key: value for key, value in params.items() if key != "inputResponses"}
    return {**rest, "inputResponses": said} if said else rest


def _form(decision: Decision) -> dict[str, Any]:
    """There is nothing to fill in: accepting it says all."""
    return {
        "message": notes.question(decision),
        "requestedSchema": {"type": "object", "properties": {}},
    }


def _responses(params: Params) -> Mapping[str, Any]:
    given = params.get("inputResponses")
    return given if isinstance(given, Mapping) else {}


def _read(said: object) -> Word:
    accepted = isinstance(said, Mapping) and said.get("action") == "accept"
    return "approved" if accepted else "declined"
