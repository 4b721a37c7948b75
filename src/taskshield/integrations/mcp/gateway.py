"""Answers the requests of clients to one wrapped server.

Owns which requests are checked, and how. Whatever a server answers is judged before it passes, its
errors included; results of methods that are not named here as well. Connections belong to
`connections`.
"""

import json
import logging
import uuid
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from mcp import MCPError
from mcp_types import INVALID_PARAMS

from taskshield.core.errors import ConfigError
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall
from taskshield.core.tools import ToolSpec
from taskshield.engine.risk_tiers import tier_of
from taskshield.integrations.mcp import notes
from taskshield.integrations.mcp.checks.protocols import Checks, Session
from taskshield.integrations.mcp.requests import answers, results
from taskshield.integrations.mcp.requests.approval import Approvals, without_answers
from taskshield.integrations.mcp.requests.client_request import Params, Request
from taskshield.integrations.mcp.rules import Rules
from taskshield.integrations.mcp.targets import Target
from taskshield.integrations.mcp.tools import greeting, listings
from taskshield.integrations.mcp.tools.inventory import Inventory
from taskshield.integrations.mcp.tools.pins import Pins
from taskshield.integrations.mcp.tools.review import Reviewer

_log = logging.getLogger(__name__)

_WORDLESS = frozenset({"logging/setLevel", "ping", "resources/subscribe", "resources/unsubscribe"})
"""Requests with empty results."""

Forward = Callable[[str, Params], Awaitable[dict[str, Any]]]
"""Sends a method with these params to the wrapped server; its result."""


class Gateway:
    """Guards one server, for any number of clients."""

    def __init__(
        self,
        target: Target,
        checks: Checks,
        *,
        rules: Rules | None = None,
        pins: Pins | None = None,
    ) -> None:
        """Make a gateway. The server is started with the first client.

        Args:
            target: The wrapped server.
            checks: Who checks messages.
            rules: What to do without a known task, and about poisoned tools.
            pins: Hashes of the accepted tools; None keeps them in memory.
        """
        self.target = target
        self._checks = checks
        self._rules = Rules() if rules is None else rules
        self._reviewer = Reviewer(checks)
        self._approvals = Approvals()
        self.inventory = Inventory(
            self._reviewer, Pins() if pins is None else pins, self._rules.poisoned
        )

    def session(self) -> Session:
        """The session of a client that names none."""
        return self._checks.begin()

    async def answer(self, request: Request, forward: Forward) -> dict[str, Any]:
        """Answer a request; the server is asked if the request is allowed.

        Raises:
            MCPError: An error for the client: the server's own, or the request is not valid.
        """
        session = self.session_of(request)
        ask = partial(answers.asked, forward, session)
        params = without_answers(request.params_for_server())
        match request.method:
            case "initialize" | "server/discover":
                said = await ask(request.method, params)
                more = () if session.goal_known else (notes.NAME_A_SESSION,)
                return await greeting.reviewed(self._reviewer, said, *more)
            case "tools/list":
                page = await ask(request.method, params)
                return await self.inventory.listed(page, first="cursor" not in params)
            case method if method in listings.LISTS:
                page = await ask(method, params)
                return await listings.reviewed(self._reviewer, method, page)
            case results.CALL:
                return await self._checked_call(request, forward, session)
            case method if method in _WORDLESS:
                said = await ask(method, params)
                return {"resultType": "complete"} if said.get("resultType") == "complete" else {}
            case _:
                return await answers.checked(request, forward, session, answering=None)

    async def _checked_call(
        self, request: Request, forward: Forward, session: Session
    ) -> dict[str, Any]:
        name, arguments = request.params.get("name"), request.params.get("arguments")
        if not isinstance(name, str) or not isinstance(arguments, dict | None):
            raise MCPError(INVALID_PARAMS, "A call needs a name and an object as arguments.")
        tool = await self.inventory.find(name, partial(_tool_page, request, forward, session))
        if tool is None:
            return _blocked(request, name, notes.blocked_tool(notes.UNLISTED))
        if tool.refusal is not None:
            return _blocked(request, name, notes.blocked_tool(tool.refusal))
        if not session.goal_known:
            if not self._is_allowed_without_task(tool.spec):
                return _blocked(request, name, notes.blocked_without_task())
            return await answers.checked(request, forward, session, answering=None)
        call = ToolCall(id=f"mcp_{uuid.uuid4().hex}", name=name, arguments=_json(arguments))
        return await self._judged_call(request, forward, session, call, tool.spec)

    async def _judged_call(
        self, request: Request, forward: Forward, session: Session, call: ToolCall, tool: ToolSpec
    ) -> dict[str, Any]:
        """The result of a call, which runs if it serves the user or a person approves it."""
        message = Message(level=Level.ASSISTANT, tool_calls=(call,))
        decision = await session.add(message, tool)
        note = ""
        if decision.action == "escalate":
            answer = await self._approvals.ask_user(request, decision)
            if answer == "later":
                return self._approvals.question_as_result(request, decision)
            note = notes.ANSWERS[answer]
            if answer == "approved" and await session.approve(decision):
                decision = await session.add(message, tool)
        if not decision.allowed:
            return _blocked(request, call.name, notes.blocked(decision, note))
        return await answers.checked(request, forward, session, answering=call.id)

    def _is_allowed_without_task(self, tool: ToolSpec) -> bool:
        match self._rules.no_goal:
            case "allow":
                return True
            case "refuse":
                return False
            case "reads":
                tier = tier_of(tool.name, {tool.name: tool}, self._checks.policy)
                return not tier.side_effects

    def session_of(self, request: Request) -> Session:
        """The session that a request belongs to.

        Raises:
            MCPError: The request names one that cannot be.
        """
        named = request.session_name
        if named is None:
            return request.session
        try:
            return self._checks.named(named)
        except ConfigError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from None


async def _tool_page(
    request: Request, forward: Forward, session: Session, params: Params
) -> dict[str, Any]:
    """A page of the server's tools, for a client that calls one of them."""
    own = {**params, "_meta": request.meta_for_other_requests()}
    return await answers.asked(forward, session, "tools/list", own)


def _json(arguments: dict[str, Any] | None) -> str:
    try:
        return json.dumps({} if arguments is None else arguments, ensure_ascii=False)
    except (ValueError, RecursionError):  # a number with too many digits, or too many brackets
        raise MCPError(INVALID_PARAMS, "The arguments of the call cannot be read.") from None


def _blocked(request: Request, tool: str, note: str) -> dict[str, Any]:
    _log.warning("blocked a call of %r", tool)
    return results.refusal(note, modern=request.modern)
