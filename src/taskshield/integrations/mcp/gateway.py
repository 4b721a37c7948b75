"""Answers the requests of clients to one wrapped server.

Owns which requests are checked, and how. Requests that are not named here are forwarded as they
are. Connections belong to `connections`.
"""

import json
import logging
import uuid
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import anyio
from mcp import MCPError
from mcp_types import INVALID_PARAMS, REQUEST_TIMEOUT

from taskshield.adapters import output_redaction as redaction
from taskshield.core.errors import ConfigError, WireFormatError
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall
from taskshield.core.tools import ToolSpec
from taskshield.engine.risk_tiers import tier_of
from taskshield.integrations.mcp import notes
from taskshield.integrations.mcp.checks.protocols import Checks, Session
from taskshield.integrations.mcp.requests import results
from taskshield.integrations.mcp.requests.approval import (
    ask_user,
    question_as_result,
    without_answer,
)
from taskshield.integrations.mcp.requests.client_request import Params, Request
from taskshield.integrations.mcp.rules import Rules
from taskshield.integrations.mcp.targets import Target
from taskshield.integrations.mcp.tools.inventory import Inventory
from taskshield.integrations.mcp.tools.pins import Pins
from taskshield.integrations.mcp.tools.review import Reviewer

_log = logging.getLogger(__name__)

_LISTING_S = 30.0
"""Longest time for a server to list its tools before one is called."""

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
        match request.method:
            case "initialize" | "server/discover":
                greeting = await forward(request.method, request.params_for_server())
                return await self._checked_greeting(request, greeting)
            case "tools/list":
                listed = await forward(request.method, request.params_for_server())
                return await self.inventory.listed(listed)
            case results.CALL:
                return await self._checked_call(request, forward)
            case method if results.is_read(method):
                session = self._session_of(request)
                return await _checked_result(request, forward, session, answers=None)
            case method:
                return await forward(method, request.params_for_server())

    async def _checked_greeting(self, request: Request, greeting: dict[str, Any]) -> dict[str, Any]:
        """The server's greeting. Its instructions are for the agent, so they are reviewed."""
        given = greeting.get("instructions")
        instructions = (
            [await self._checked_instructions(given)] if isinstance(given, str) and given else []
        )
        if not self._session_of(request).goal_known:
            instructions.append(f"{notes.NO_TASK} {notes.HOW_TO_NAME_A_SESSION}")
        if not instructions:
            return greeting
        return {**greeting, "instructions": "\n\n".join(instructions)}

    async def _checked_instructions(self, text: str) -> str:
        verdict = await self._reviewer.verdict([text])
        if verdict == "clean":
            return text
        _log.warning("withheld the instructions of the wrapped server: %s", verdict)
        return notes.INSTRUCTIONS_REMOVED if verdict == "poisoned" else notes.INSTRUCTIONS_UNCHECKED

    async def _checked_call(self, request: Request, forward: Forward) -> dict[str, Any]:
        name, arguments = request.params.get("name"), request.params.get("arguments")
        if not isinstance(name, str) or not isinstance(arguments, dict | None):
            raise MCPError(INVALID_PARAMS, "A call needs a name and an object as arguments.")
        session = self._session_of(request)
        tool = await self.inventory.find(name, partial(_tool_page, request, forward))
        if tool is None:
            return _blocked(request, name, notes.blocked_tool(notes.UNLISTED))
        if tool.refusal is not None:
            return _blocked(request, name, notes.blocked_tool(tool.refusal))
        if not session.goal_known:
            if not self._is_allowed_without_task(tool.spec):
                return _blocked(request, name, notes.blocked_without_task())
            return await _checked_result(request, forward, session, answers=None)
        call = ToolCall(id=f"mcp_{uuid.uuid4().hex}", name=name, arguments=_json(arguments))
        return await _judged_call(request, forward, session, call, tool.spec)

    def _is_allowed_without_task(self, tool: ToolSpec) -> bool:
        match self._rules.no_goal:
            case "allow":
                return True
            case "refuse":
                return False
            case "reads":
                tier = tier_of(tool.name, {tool.name: tool}, self._checks.policy)
                return not tier.side_effects

    def _session_of(self, request: Request) -> Session:
        named = request.session_name
        if named is None:
            return request.session
        try:
            return self._checks.named(named)
        except ConfigError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from None


async def _judged_call(
    request: Request, forward: Forward, session: Session, call: ToolCall, tool: ToolSpec
) -> dict[str, Any]:
    """The result of a call, which runs if it serves the user or a person approves it."""
    message = Message(level=Level.ASSISTANT, tool_calls=(call,))
    decision = await session.add(message, tool)
    note = ""
    if decision.action == "escalate":
        answer = await ask_user(request, decision)
        if answer == "later":
            return question_as_result(decision)
        note = notes.ANSWERS[answer]
        if answer == "approved" and await session.approve(decision):
            decision = await session.add(message, tool)
    if not decision.allowed:
        return _blocked(request, call.name, notes.blocked(decision, note))
    return await _checked_result(request, forward, session, answers=call.id)


async def _checked_result(
    request: Request, forward: Forward, session: Session, *, answers: str | None
) -> dict[str, Any]:
    """The server's result, checked before the agent reads it."""
    try:
        result = await forward(request.method, without_answer(request.params_for_server()))
    except MCPError as error:
        raise await _checked_error(error, session, answers) from None
    if results.is_question(result):
        return result
    try:
        message = results.message_of(result, answers=answers)
    except WireFormatError:
        return results.replaced(request.method, result, notes.UNREADABLE_RESULT)
    return results.rendered(request.method, result, await session.add(message))


async def _checked_error(error: MCPError, session: Session, answers: str | None) -> MCPError:
    """The error with the words that the agent may read."""
    result = {"message": error.message, "structuredContent": error.data, "isError": True}
    try:
        message = results.message_of(result, answers=answers)
    except WireFormatError:
        return MCPError(error.code, notes.UNREADABLE_RESULT)
    decision = await session.add(message)
    match decision.action:
        case "annotate":
            annotated = f"{error.message}\n\n{redaction.note(decision)}"
            return MCPError(error.code, annotated, error.data)
        case "redact" | "withhold":
            return MCPError(error.code, decision.content)
        case _:
            return error


async def _tool_page(request: Request, forward: Forward, params: Params) -> dict[str, Any]:
    """A page of the server's tools, for a client that calls one of them."""
    with anyio.move_on_after(_LISTING_S):
        return await forward("tools/list", {**params, "_meta": request.meta_for_other_requests()})
    raise MCPError(REQUEST_TIMEOUT, "The wrapped server did not list its tools in time.")


def _json(arguments: dict[str, Any] | None) -> str:
    try:
        return json.dumps({} if arguments is None else arguments, ensure_ascii=False)
    except (ValueError, RecursionError):  # a number with too many digits, or too many brackets
        raise MCPError(INVALID_PARAMS, "The arguments of the call cannot be read.") from None


def _blocked(request: Request, tool: str, note: str) -> dict[str, Any]:
    _log.warning("blocked a call of %r", tool)
    return results.refusal(note, modern=request.modern)
