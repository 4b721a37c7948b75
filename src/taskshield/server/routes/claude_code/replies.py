"""Replies to hooks of Claude Code, for the server and for the command that works without a server.

Claude Code ignores a hook that fails. So there always is a reply, and a reply without a decision
stops the event.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from taskshield.adapters.claude_code.answers import render, render_failure
from taskshield.adapters.claude_code.events import BUILT_IN, Event, OtherEvent, UserPrompt
from taskshield.core.decisions import Check
from taskshield.server.sessions.snapshots import RequestSource

if TYPE_CHECKING:  # the command may run without the packages of the server
    from taskshield.server.sessions.checker import SessionChecker

NAME = "claude-code"
PATH = "/hooks/claude-code"
CHECK_HEADER = "x-taskshield-check"
"""The outcome of the check. It also shows that a reply comes from a taskshield server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A reply in the JSON of Claude Code."""

    body: dict[str, object]
    check: Check | Literal["none"]
    """Whether a judge checked the event; "none" for events that need no check."""


async def reply(
    checker: "SessionChecker", tenant: str, event: Event, *, agent: str | None = None
) -> Reply:
    """The reply to an event.

    Raises:
        RequestError: Its session cannot be resumed.
        StoreError: Nothing was stored, so nothing is decided.
    """
    if isinstance(event, OtherEvent):
        return Reply(body={}, check="none")
    checked = await checker.check(
        tenant,
        event.session,
        event.messages if isinstance(event, UserPrompt) else [event.message],
        source=RequestSource(NAME, agent),
        tools=BUILT_IN,
        start=True,
    )
    decision = checked.decisions[0]
    return Reply(body=render(event, decision), check=decision.check)


def unchecked(event: Event | None, why: str) -> Reply:
    """The reply where nothing could be decided; it stops the event.

    Args:
        event: The event; None where it could not be read.
        why: The reason, for people.
    """
    return Reply(body=render_failure(event, why), check="failed")
