"""Asks the user, through the client, whether a blocked call may run.

Clients of older protocols get the question while they wait for the result. Newer ones get the
question as the result, and repeat the request with the user's answer. An answer counts for a
question that was asked: for this call, once, and for a limited time.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from cachetools import TTLCache
from mcp import MCPError

from taskshield.core.decisions import Decision
from taskshield.core.messages import digest
from taskshield.integrations.mcp import notes
from taskshield.integrations.mcp.requests.client_request import Params, Request

Answer = Literal["approved", "declined", "unavailable", "later"]
"""A person's answer about a call.

- approved, declined: the user's answer
- unavailable: the client cannot ask its user
- later: the client gets the question as its result
"""

QUESTION = "taskshield/approval"
"""What the keys of our questions begin with, among those that a client gets."""
_LIFETIME_S = 600.0
"""How long a person may take to answer."""
_MOST_OPEN = 200
"""Most questions that wait for an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A question that a client got as a result."""

    about: str
    """Hash of the call that it is about, with the session and the server's own state."""
    carried: Mapping[str, Any]
    """What the request carried for the server, which its repetition does not."""


class Approvals:
    """The questions of one gateway."""

    def __init__(self) -> None:
        self._open: TTLCache[str, _Asked] = TTLCache(_MOST_OPEN, _LIFETIME_S)

    async def ask_user(self, request: Request, decision: Decision) -> Answer:
        """Ask the user whether a blocked call may run."""
        given = self._answer(request)
        if given is not None:
            return given
        if not request.can_ask_user:
            return "unavailable"
        if request.modern:
            return "later"
        try:
            answer = await request.client.send_raw_request("elicitation/create", _form(decision))
        except MCPError:
            return "unavailable"
        return _read(answer)

    def question_as_result(self, request: Request, decision: Decision) -> dict[str, Any]:
        """The question as the result of a request."""
        key = f"{QUESTION}/{secrets.token_urlsafe(24)}"
        names = ("inputResponses", "requestState")
        carried = {name: request.params[name] for name in names if name in request.params}
        self._open[key] = _Asked(about=_about(request), carried=without_answers(carried))
        question = {"method": "elicitation/create", "params": _form(decision)}
        return {"resultType": "input_required", "inputRequests": {key: question}}

    def _answer(self, request: Request) -> Answer | None:
        """The answer that a request carries to a question about this call."""
        for key, answer in _responses(request.params).items():
            asked = self._open.get(key)
            if asked is not None and asked.about == _about(request):
                del self._open[key]
                request.carried.update(asked.carried)
                return _read(answer)
        return None


def without_answers(params: Params) -> dict[str, Any]:
    """The params for the server, without the user's answers to our questions."""
    if "inputResponses" not in params:
        return dict(params)
    responses = {
        key: value for key, value in _responses(params).items() if not key.startswith(QUESTION)
    }
    others = {key: value for key, value in params.items() if key != "inputResponses"}
    return {**others, "inputResponses": responses} if responses else others


def _about(request: Request) -> str:
    """What an answer is about: the session, the tool and its arguments."""
    call = {"name": request.params.get("name"), "arguments": request.params.get("arguments")}
    session = "" if request.session_name is None else request.session_name
    return digest(str(id(request.session)), session, json.dumps(call, sort_keys=True))


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
