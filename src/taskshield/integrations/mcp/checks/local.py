"""Checks by a judge in this process."""

import anyio

from taskshield.api.sessions import AsyncSession
from taskshield.api.shields import AsyncShield
from taskshield.core.decisions import Decision
from taskshield.core.errors import ConfigError, ConversationError
from taskshield.core.messages import Message
from taskshield.core.policy import Policy
from taskshield.core.tools import ToolSpec


class LocalChecks:
    """Sessions of a shield in this process; the task is known when the gateway starts."""

    def __init__(self, shield: AsyncShield, *, task: str | None = None) -> None:
        """Prepare the checks.

        Args:
            shield: The shield that checks. The caller closes it.
            task: The user's task; None if it is not known.
        """
        self._shield = shield
        self._task = task

    @property
    def policy(self) -> Policy:
        """The shield's policy."""
        return self._shield.settings.policy.to_policy()

    def begin(self) -> "LocalSession":
        """The session of a client that names none."""
        return LocalSession(self._shield.session(), self._task)

    def named(self, id: str) -> "LocalSession":
        """Refuse the name: only a taskshield server has named sessions."""
        raise ConfigError(
            "The client named a session, but this gateway uses no taskshield server. Start it with"
            " --server."
        )

    def about(self, task: str) -> "LocalSession":
        """A separate session with this task only."""
        return LocalSession(self._shield.session(), task)


class LocalSession:
    """A guarded conversation that starts with the user's task."""

    def __init__(self, session: AsyncSession, task: str | None) -> None:
        self._session = session
        self._task = task
        self._task_added = task is None
        self._adding_task = anyio.Lock()

    @property
    def goal_known(self) -> bool:
        """Whether a task was given."""
        return self._task is not None

    async def add(self, message: Message, *tools: ToolSpec) -> Decision:
        """Check the next message."""
        async with self._adding_task:
            if not self._task_added and self._task is not None:
                await self._session.user(self._task)
                self._task_added = True
        self._session.declare(*tools)
        return await self._session.add(message)

    async def approve(self, decision: Decision) -> bool:
        """Allow a blocked call once; returns whether it may run."""
        try:
            self._session.approve(decision)
        except ConversationError:
            return False
        return True
