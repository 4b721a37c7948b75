"""Messages of a wrapped server as they arrive: parsed within limits, or an error.

An answer that cannot be read becomes an error for the request that it answers, so that no client
waits for it. Pure.
"""

import json
import re

from mcp.shared.message import SessionMessage
from mcp_types import (
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    RequestId,
    jsonrpc_message_adapter,
)

from taskshield.core.json_limits import JsonLimits, excess_of
from taskshield.integrations.mcp import notes

MOST_BYTES = 8 * 1024 * 1024
"""Longest message of a server."""
SHORT = 64 * 1024
"""Bytes of a message that is read at once; a longer one is read in a thread."""
_LIMITS = JsonLimits(depth=1_000, values=250_000, keys=250_000)
"""Most JSON values in a message."""
_EDGE = 4_096
"""Bytes at both ends of a message in which the id is looked for, if it cannot be parsed."""
_ID = re.compile(rb'"id"\s{0,8}:\s{0,8}(-?\d{1,15}|"[^"\\]{1,64}")(?=[\s,}])')


class UnreadableMessageError(ValueError):
    """A message that is not MCP, and that answers no request as far as can be seen."""

    def __init__(self, *, answers: bool) -> None:
        super().__init__("this is not a message of MCP")
        self.answers = answers
        """Whether it looks like the answer to a request."""


def read(line: bytes) -> SessionMessage | UnreadableMessageError:
    """The message in a line."""
    try:
        return SessionMessage(parsed(line))
    except ValueError:
        return unreadable(line)


def parsed(data: bytes) -> JSONRPCMessage:
    """The message that these bytes are.

    Raises:
        ValueError: They are none, or it is too big.
    """
    if len(data) > MOST_BYTES or excess_of(data, _LIMITS) is not None:
        raise ValueError("too big")
    # Lone surrogates and other invalid bytes must not end the connection.
    return jsonrpc_message_adapter.validate_json(data.decode("utf-8", "replace"), by_name=False)


def unreadable(line: bytes) -> SessionMessage | UnreadableMessageError:
    """What stands for a message that cannot be read: an error for the request that it answers."""
    ends = line[:_EDGE] + b" " + line[-_EDGE:] if len(line) > 2 * _EDGE else line
    answers = _looks_like_answer(ends)
    id = _id(ends) if answers else None
    return UnreadableMessageError(answers=answers) if id is None else SessionMessage(failure(id))


def failure(id: RequestId) -> JSONRPCError:
    """The answer to a request whose answer cannot be read."""
    error = ErrorData(code=PARSE_ERROR, message=notes.UNREADABLE_ANSWER)
    return JSONRPCError(jsonrpc="2.0", id=id, error=error)


def _id(ends: bytes) -> RequestId | None:
    """The id of an answer, of which these are the first and the last bytes."""
    try:
        found = json.loads(ends).get("id")
    except (ValueError, AttributeError, RecursionError):
        match = _ID.search(ends)
        found = None if match is None else json.loads(match[1])
    if isinstance(found, float) and found.is_integer():
        found = int(found)
    return found if isinstance(found, int | str) and not isinstance(found, bool) else None


def _looks_like_answer(ends: bytes) -> bool:
    if b'"result"' in ends or b'"error"' in ends:
        return True
    return b'"jsonrpc"' in ends and b'"method"' not in ends
