"""What becomes of a client's requests to one wrapped server.

Owns which of them are checked, and how. The ways to and from the server are `link`'s, those to and
from the client `stdio`'s and `http`'s. All that is not named here passes as it is.
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
from taskshield.integrations.mcp import notes, results
from taskshield.integrations.mcp.approval import asking, persons_word, without_word
from taskshield.integrations.mcp.checking import Checks, Session
from taskshield.integrations.mcp.inventory import Inventory
from taskshield.integrations.mcp.pins import Pins
from taskshield.integrations.mcp.requests import Params, Request
from taskshield.integrations.mcp.review import Reviewer
from taskshield.integrations.mcp.rules import Rules
from taskshield.integrations.mcp.targets import Target

_log = logging.getLogger(__name__)

_LISTING_S = 30.0
"""Time for a server to list its tools when one is called."""

Forward = Callable[[str, Params], Awaitable[dict[str, Any]]]
"""Has the wrapped server answer a method with these params."""


class Gateway:
    """A guard before one server, for any number of clients."""

    def __init__(
        self,
        target: Target,
        checks: Checks,
        *,
        rules: Rules | None = None,
        pins: Pins | None = None,
    ) -> None:
        """Make a gateway. Nothing is started before a client comes.

        Args:
            target: The server.
            checks: Who checks.
            rules: What is done without a goal, and about poisoned tools.
            pins: What the tools were; in memory if None.
        """
        self.target = target
        self._checks = checks
        self._rules = Rules() if rules is None else rules
        self._reviewer = Reviewer(checks)
        self.inventory = Inventory(
            self._reviewer, Pins() if pins is None else pins, self._rules.poisoned
        )

    def session(self) -> Session:
        """A session for a client that names none."""
        return self._checks.begin()

    async def answer(self, request: Request, forward: Forward) -> dict[str, Any]:
        """Answer a request, with the server's help where that may be had.

        Raises:
            MCPError: For the client, from the server or because the request is wrong.
        """
        match request.method:
            case "initialize" | "server/discover":
                greeting = await forward(request.method, request.passed_on())
                return await self._introduced(request, greeting)
            case "tools/list":
                listed = await forward(request.method, request.passed_on())
                return await self.inventory.listed(listed)
            case results.CALL:
                return await self._called(request, forward)
            case method if results.is_read(method):
                session = self._session_of(request)
                return await _read(request, forward, session, answers=None)
            case method:
                return await forward(method, request.passed_on())

    async def _introduced(self, request: Request, greeting: dict[str, Any]) -> dict[str, Any]:
        """A server's greeting, whose instructions are for the agent."""
        told = greeting.get("instructions")
        kept = [await self._instructions(told)] if isinstance(told, str) and told else []
        if not self._session_of(request).goal_known:
            kept.append(f"{notes.NO_GOAL} {notes.LINKING}")
        return {**greeting, "instructions": "\n\n".join(kept)} if kept else greeting

    async def _instructions(self, text: str) -> str:
        verdict = await self._reviewer.verdict([text])
        if verdict == "clean":
            return text
        _log.warning("the instructions of the wrapped server are withheld: %s", verdict)
        return notes.INSTRUCTIONS_REMOVED if verdict == "poisoned" else notes.INSTRUCTIONS_UNCHECKED

    async def _called(self, request: Request, forward: Forward) -> dict[str, Any]:
        name, arguments = request.params.get("name"), request.params.get("arguments")
        if not isinstance(name, str) or not isinstance(arguments, dict | None):
            raise MCPError(INVALID_PARAMS, "a call has a name, and an object as arguments")
        session = self._session_of(request)
        tool = await self.inventory.find(name, partial(_listed, request, forward))
        if tool is None:
            return _refused(request, name, notes.refused_tool(notes.UNLISTED))
        if tool.refusal is not None:
            return _refused(request, name, notes.refused_tool(tool.refusal))
        if not session.goal_known:
            if not self._passes_without_goal(tool.spec):
                return _refused(request, name, notes.refused_without_goal())
            return await _read(request, forward, session, answers=None)
        call = ToolCall(id=f"mcp_{uuid.uuid4().hex}", name=name, arguments=_json(arguments))
        return await _judged(request, forward, session, call, tool.spec)

    def _passes_without_goal(self, tool: ToolSpec) -> bool:
        match self._rules.no_goal:
            case "allow":
                return True
            case "refuse":
                return False
            case "reads":
                tier = tier_of(tool.name, {tool.name: tool}, self._checks.policy)
                return not tier.side_effects

    def _session_of(self, request: Request) -> Session:
        named = request.named
        if named is None:
            return request.session
        try:
            return self._checks.named(named)
        except ConfigError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from None


async def _judged(
    request: Request, forward: Forward, session: Session, call: ToolCall, tool: ToolSpec
) -> dict[str, Any]:
    """A call, carried out where it serves the user or a person approves it."""
    message = Message(level=Level.ASSISTANT, tool_calls=(call,))
    decision = await session.add(message, tool)
    note = ""
    if decision.action == "escalate":
        word = await persons_word(request, decision)
        if word == "later":
            return asking(decision)
        note = notes.WORDS[word]
        if word == "approved" and await session.approve(decision):
            decision = await session.add(message, tool)
    if not decision.allowed:
        return _refused(request, call.name, notes.refused(decision, note))
    return await _read(request, forward, session, answers=call.id)


async def _read(
    request: Request, forward: Forward, session: Session, *, answers: str | None
) -> dict[str, Any]:
    """What the server answers, checked before the agent reads it."""
    try:
        result = await forward(request.method, without_word(request.passed_on()))
    except MCPError as error:
        raise await _checked(error, session, answers) from None
    if results.asks(result):
        return result
    try:
        message = results.message_of(result, answers=answers)
    except WireFormatError:
        return results.replaced(request.method, result, notes.UNREADABLE_RESULT)
    return results.rendered(request.method, result, await session.add(message))


async def _checked(error: MCPError, session: Session, answers: str | None) -> MCPError:
    """An error whose words an agent may read."""
    told = {"message": error.message, "structuredContent": error.data, "isError": True}
    try:
        message = results.message_of(told, answers=answers)
    except WireFormatError:
        return MCPError(error.code, notes.UNREADABLE_RESULT)
    decision = await session.add(message)
    match decision.action:
        case "annotate":
            words = f"{error.message}\n\n{redaction.note(decision)}"
            return MCPError(error.code, words, error.data)
        case "redact" | "withhold":
            return MCPError(error.code, decision.content)
        case _:
            return error


async def _listed(request: Request, forward: Forward, params: Params) -> dict[str, Any]:
    """A page of the server's tools, asked for on behalf of a client that wants to call one."""
    with anyio.move_on_after(_LISTING_S):
        return await forward("tools/list", {**params, "_meta": request.beside()})
    raise MCPError(REQUEST_TIMEOUT, "the wrapped server does not say which tools it has")


def _json(arguments: dict[str, Any] | None) -> str:
    try:
        return json.dumps({} if arguments is None else arguments, ensure_ascii=False)
    except (ValueError, RecursionError):  # a number of absurd length, or endless brackets
        raise MCPError(INVALID_PARAMS, "these arguments cannot be read") from None


def _refused(request: Request, tool: str, note: str) -> dict[str, Any]:
    _log.warning("refused a call of %r", tool)
    return results.refusal(note, modern=request.modern)
