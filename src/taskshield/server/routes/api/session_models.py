"""The JSON of sessions: one session, and lists of sessions."""

from datetime import datetime

from taskshield.core.decisions import Action
from taskshield.core.instructions import Grant, Task
from taskshield.core.session_state import Counters
from taskshield.core.store import ListedSession, Page
from taskshield.core.usage import Usage
from taskshield.server.routes.api.models import ResponseModel
from taskshield.server.sessions.snapshots import SessionSnapshot


class TaskOut(ResponseModel):
    """A task of the user."""

    id: str
    text: str
    grant: Grant | None
    """Authority that the task delegates to a source."""
    message: int
    """Number of the message that states it."""

    @classmethod
    def of(cls, task: Task) -> "TaskOut":
        """From a task."""
        return cls(
            id=task.id, text=task.text, grant=task.grant, message=task.instruction.origin.message
        )


class TaintedOut(ResponseModel):
    """A directive from tool output that does not serve the user's tasks."""

    id: str
    text: str
    message: int


class SessionOut(ResponseModel):
    """A session as it is now."""

    id: str
    version: int
    created_at: datetime
    messages: int
    """Number of its messages."""
    tools: list[str]
    tasks: list[TaskOut]
    objectives: list[str]
    """Objectives that the system message states."""
    tainted: list[TaintedOut]
    counters: Counters
    usage: Usage
    rounds_used: int
    """Feedback rounds used since the user's last message."""

    @classmethod
    def of(cls, snapshot: SessionSnapshot) -> "SessionOut":
        """From the newest snapshot."""
        state = snapshot.state
        return cls(
            id=snapshot.id,
            version=snapshot.version,
            created_at=snapshot.created_at,
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


class SessionRow(ResponseModel):
    """A session in a list."""

    id: str
    version: int
    created_at: datetime
    updated_at: datetime
    surface: str | None
    """Surface of its last decision; null before the first."""
    agent: str | None
    """Agent of its last decision; null where no agent is named."""
    tasks: list[str]
    """The beginnings of its first tasks; empty where texts are not stored."""
    messages: int
    """Number of its messages."""
    blocked: int
    """How many messages were blocked or revised."""
    escalated: int
    """How many messages waited for approval."""
    last_action: Action | None
    last_at: datetime | None
    """Time of its last decision."""


class Sessions(ResponseModel):
    """A page of sessions, the most recently changed first."""

    items: list[SessionRow]
    next: str | None
    """Send this as `after` to get the next page; null at the end."""

    @classmethod
    def of(cls, page: Page[ListedSession]) -> "Sessions":
        """From a page of the store."""
        rows = [SessionRow.model_validate(item, from_attributes=True) for item in page.items]
        return cls(items=rows, next=page.next)
