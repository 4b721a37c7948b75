"""The JSON of sessions: as they are now, and in lists."""

from datetime import datetime

from taskshield.core.decisions import Action
from taskshield.core.instructions import Grant, Task
from taskshield.core.store import ListedSession, Page
from taskshield.core.usage import Usage
from taskshield.engine.state import Counters
from taskshield.server.routes.api.models import Answer
from taskshield.server.sessions.snapshots import SessionSnapshot


class TaskOut(Answer):
    """A task of the user."""

    id: str
    text: str
    grant: Grant | None
    """Authority that the task hands to a source."""
    message: int
    """Number of the message that it was read from."""

    @classmethod
    def of(cls, task: Task) -> "TaskOut":
        """From a task."""
        return cls(
            id=task.id, text=task.text, grant=task.grant, message=task.instruction.origin.message
        )


class TaintedOut(Answer):
    """A directive from tool output that does not serve the user's tasks."""

    id: str
    text: str
    message: int


class SessionOut(Answer):
    """A session as it is now."""

    id: str
    version: int
    created_at: datetime
    messages: int
    """How many it has seen."""
    tools: list[str]
    tasks: list[TaskOut]
    objectives: list[str]
    """What the system message is for, as far as it says so."""
    tainted: list[TaintedOut]
    counters: Counters
    usage: Usage
    rounds_used: int
    """Feedback rounds spent since the user last spoke."""

    @classmethod
    def of(cls, point: SessionSnapshot) -> "SessionOut":
        """From the point where the session is."""
        state = point.state
        return cls(
            id=point.id,
            version=point.version,
            created_at=point.created_at,
            messages=state.messages,
            tools=sorted(state.tools),
            tasks=[TaskOut.of(task) for task in state.tasks],
            objectives=[objective.text for objective in state.objectives],
            tainted=[
                TaintedOut(
                    id=item.id,
                    text=item.instruction.text,
                    message=item.instruction.origin.message,
                )
                for item in state.tainted
            ],
            counters=state.counters,
            usage=state.usage,
            rounds_used=state.rounds_used,
        )


class SessionRow(Answer):
    """A session in a list."""

    id: str
    version: int
    created_at: datetime
    updated_at: datetime
    surface: str | None
    """Where its last decision was asked for; null before the first."""
    agent: str | None
    """For which agent that was; null where nobody says."""
    tasks: list[str]
    """The beginnings of its first tasks; none where texts are not stored."""
    messages: int
    """How many it has seen."""
    blocked: int
    """How many of them were blocked or sent back to be revised."""
    escalated: int
    """How many of them had to wait for a person."""
    last_action: Action | None
    last_at: datetime | None
    """When that was decided."""


class Sessions(Answer):
    """Some of all sessions, those written last first."""

    items: list[SessionRow]
    next: str | None
    """Give this back as `after` to get those that follow; null at the end."""

    @classmethod
    def of(cls, page: Page[ListedSession]) -> "Sessions":
        """From a page of the store."""
        rows = [SessionRow.model_validate(item, from_attributes=True) for item in page.items]
        return cls(items=rows, next=page.next)
