"""What a hook of Claude Code is told: by the server, and by the command that works without one.

Claude Code goes on where a hook fails. So whatever happens here, there is a reply, and one without
a decision stops what it was asked about.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from taskshield.adapters.claude_code.answers import broken, render
from taskshield.adapters.claude_code.events import BUILT_IN, Event, OtherEvent
from taskshield.core.decisions import Check
from taskshield.server.sessions.snapshots import RequestSource

if TYPE_CHECKING:  # the command asks a server without having its packages
    from taskshield.server.sessions.checker import SessionChecker

NAME = "claude-code"
PATH = "/hooks/claude-code"
CHECK_HEADER = "x-taskshield-check"
"""Says what became of the check: by it, a reply of ours is known from one of somebody else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer in the JSON of Claude Code."""

    body: dict[str, object]
    check: Check | Literal["none"]
    """Whether a judge looked at it; "none" for events that say nothing about tasks."""


async def reply(
    checker: "SessionChecker", tenant: str, event: Event, *, agent: str | None = None
) -> Reply:
    """The reply to an event.

    Raises:
        Refused: Its session is forgotten.
        StoreError: Nothing was written down, and nothing decided.
    """
    if isinstance(event, OtherEvent):
        return Reply(body={}, check="none")
    checked = await checker.check(
        tenant,
        event.session,
        [event.message],
        source=RequestSource(NAME, agent),
        tools=BUILT_IN,
        start=True,
    )
    (decision,) = checked.decisions
    return Reply(body=render(event, decision), check=decision.check)


def unchecked(event: Event | None, why: str) -> Reply:
    """The reply where nothing could be decided, which stops what would go on.

    Args:
        event: What was asked about; None where that could not be read.
        why: One sentence for people.
    """
    return Reply(body=broken(event, why), check="failed")
