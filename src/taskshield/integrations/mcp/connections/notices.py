"""Notifications of a wrapped server: what of them reaches the client.

Only members that MCP defines pass. Words are judged, a few in a second; a report without words
passes as it is. What MCP does not define is dropped.
"""

from collections.abc import Callable, Mapping
from typing import Any

from taskshield.integrations.mcp.checks.protocols import Session
from taskshield.integrations.mcp.connections.incoming import Budget
from taskshield.integrations.mcp.requests import questions

LOGGED = "notifications/message"
PROGRESS = "notifications/progress"
TOOLS_CHANGED = "notifications/tools/list_changed"
_CHANGES = frozenset(
    {
        TOOLS_CHANGED,
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
    }
)
"""Notifications that say nothing but that a list has changed."""
_SPOKEN = {
    LOGGED: ("level", "logger", "data"),
    PROGRESS: ("progressToken", "progress", "total", "message"),
    "notifications/elicitation/complete": ("elicitationId",),
    "notifications/resources/updated": ("uri",),
    "notifications/subscriptions/acknowledged": ("notifications",),
    "notifications/tasks/status": (
        *("taskId", "status", "statusMessage", "createdAt", "lastUpdatedAt", "ttl"),
        "pollInterval",
    ),
}
"""The members of others."""
_LEVELS = frozenset(
    {"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
)
_OF_CHANGES = (5, 0.5)
"""Most notifications of changed lists at once, and in a second in the long run: a client lists
everything again after each."""
_BURST = 20
"""Most notifications with words that are judged at once."""
_PER_SECOND = 5.0
"""Most of them in the long run; others are dropped."""

Params = Mapping[str, Any]


class Notices:
    """The notifications of one connection."""

    def __init__(self) -> None:
        self._judged = Budget(_BURST, _PER_SECOND)
        self._changes = Budget(*_OF_CHANGES)

    async def passed(
        self, method: str, params: Params, session: Callable[[], Session]
    ) -> dict[str, Any] | None:
        """The params that reach the client; None if the notification does not.

        Args:
            method: The notification's method.
            params: The params as the server sent them.
            session: The session in which their words are judged.
        """
        if method in _CHANGES:
            return {} if self._changes.allows() else None
        if method not in _SPOKEN:
            return None
        members = {key: params[key] for key in _SPOKEN[method] if key in params}
        bare = _wordless(method, members)
        if bare == members:
            return members
        if self._judged.allows() and await questions.may_pass(session(), members):
            return members
        return bare if method == PROGRESS else None


def _wordless(method: str, members: Params) -> dict[str, Any]:
    """The members that say nothing to a reader."""
    plain = {key: value for key, value in members.items() if not _speaks(value)}
    if method == PROGRESS and "progressToken" in members:
        plain["progressToken"] = members["progressToken"]  # the client has given it
    if method == LOGGED and members.get("level") in _LEVELS:
        plain["level"] = members["level"]
    return plain


def _speaks(value: object) -> bool:
    return isinstance(value, str | list | Mapping) and bool(value)
