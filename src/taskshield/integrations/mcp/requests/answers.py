"""Gets a server's answers: a result or an error is judged before the agent reads it."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import anyio.to_thread
from mcp import MCPError
from mcp_types import INTERNAL_ERROR

from taskshield.adapters import output_redaction as redaction
from taskshield.core.errors import WireFormatError
from taskshield.integrations.mcp import notes
from taskshield.integrations.mcp.checks.protocols import Session
from taskshield.integrations.mcp.requests import questions, results
from taskshield.integrations.mcp.requests.approval import without_answers
from taskshield.integrations.mcp.requests.client_request import Params, Request
from taskshield.integrations.mcp.requests.own_errors import GatewayError

Forward = Callable[[str, Params], Awaitable[dict[str, Any]]]
"""Sends a method with these params to the wrapped server; its result."""


async def asked(
    forward: Forward, session: Session, method: str, params: Params, answering: str | None = None
) -> dict[str, Any]:
    """The result of a request, not judged yet.

    Args:
        forward: The way to the server.
        session: The session in which an error is judged.
        method: Method of the request.
        params: Its params.
        answering: Id of the call that it is the answer to.

    Raises:
        MCPError: The server's error, judged, or one of the gateway.
    """
    try:
        return results.without_ours(await forward(method, params))
    except GatewayError:
        raise
    except MCPError as error:
        raise await _checked_error(error, session, answering) from None


async def checked(
    request: Request, forward: Forward, session: Session, *, answering: str | None
) -> dict[str, Any]:
    """The server's result, checked before the agent reads it.

    Raises:
        MCPError: The server's error, judged, or one of the gateway.
    """
    params = without_answers(request.params_for_server())
    result = await asked(forward, session, request.method, params, answering)
    if not questions.asks(request, result):
        return await _judged(request.method, result, session, answering)
    try:
        asking, others = questions.split(result)
    except WireFormatError:
        return _withheld(request.method, {"resultType": "complete"}, notes.UNREADABLE_RESULT)
    known = questions.methods_are_known(asking)
    if not known or not await questions.may_pass(session, asking.get("inputRequests", {})):
        return _withheld(request.method, {"resultType": "complete"}, notes.QUESTION_REFUSED)
    if not others:
        return asking
    rest = await _judged(request.method, others, session, answering)
    return {**{key: rest[key] for key in others if key in rest}, **asking}


async def _judged(
    method: str, result: dict[str, Any], session: Session, answering: str | None
) -> dict[str, Any]:
    read = partial(results.message_of, answers=answering)
    try:
        # In a thread, because other clients must not wait for a long result.
        judged = await anyio.to_thread.run_sync(read, result)
    except WireFormatError:
        return _withheld(method, result, notes.UNREADABLE_RESULT)
    if not judged.parts:
        return result
    decision = await session.add(judged)
    shown = await anyio.to_thread.run_sync(results.rendered, method, result, decision)
    if shown is None:
        raise GatewayError(INTERNAL_ERROR, redaction.note(decision))
    return shown


def _withheld(method: str, result: dict[str, Any], note: str) -> dict[str, Any]:
    """A note instead of a result."""
    instead = results.replaced(method, result, note)
    if instead is None:
        raise GatewayError(INTERNAL_ERROR, note)
    return instead


async def _checked_error(error: MCPError, session: Session, answering: str | None) -> MCPError:
    """The error with the words that the agent may read."""
    result = {"message": error.message, "structuredContent": error.data, "isError": True}
    read = partial(results.message_of, answers=answering)
    try:
        message = await anyio.to_thread.run_sync(read, result)
    except WireFormatError:
        return GatewayError(error.code, notes.UNREADABLE_RESULT)
    decision = await session.add(message)
    match decision.action:
        case "annotate":
            annotated = f"{error.message}\n\n{redaction.note(decision)}"
            return GatewayError(error.code, annotated, error.data)
        case "redact" | "withhold":
            return GatewayError(error.code, decision.content)
        case _:
            return error
