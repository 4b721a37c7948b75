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
    """Sessions of a shield, for a task that is known when the gateway starts."""

    def __init__(self, shield: AsyncShield, *, task: str | None = None) -> None:
        """Make checks.

        Args:
            shield: Who judges. It stays the caller's to close.
            task: What the user wants; None where nobody has said.
        """
        self._shield = shield
        self._task = task

    @property
    def policy(self) -> Policy:
        """The shield's own."""
        return self._shield.settings.policy.to_policy()

    def begin(self) -> "LocalSession":
        """A session for a client that names none."""
        return LocalSession(self._shield.session(), self._task)

    def named(self, id: str) -> "LocalSession":
        """There are no names here: sessions are known to taskshield servers."""
        raise ConfigError("a session was named, but there is no taskshield server to ask about it")

    def about(self, task: str) -> "LocalSession":
        """A session beside all others, in which somebody wants just this."""
        return LocalSession(self._shield.session(), task)


class LocalSession:
    """A conversation under guard that begins with what the user wants."""

    def __init__(self, session: AsyncSession, task: str | None) -> None:
        self._session = session
        self._task = task
        self._told = task is None
        self._telling = anyio.Lock()

    @property
    def goal_known(self) -> bool:
        """Whether a task was given."""
        return self._task is not None

    async def add(self, message: Message, *tools: ToolSpec) -> Decision:
        """Check the next message."""
        async with self._telling:
            if not self._told and self._task is not None:
                await self._session.user(self._task)
                self._told = True
        self._session.declare(*tools)
        return await self._session.add(message)

    async def approve(self, decision: Decision) -> bool:
        """Let through once what a decision held back."""
        try:
            self._session.approve(decision)
        except ConversationError:
            return False
        return True
