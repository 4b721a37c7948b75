"""Checks by a taskshield server, over its native API.

A session on the server knows the user's tasks because a proxy, a hook or a program has sent them.
If the server cannot check a message, that is an outage: `unchecked` applies the policy for it.
"""

from collections.abc import Sequence
from types import TracebackType
from typing import Self

import anyio

from taskshield.core.decisions import Decision
from taskshield.core.errors import ConfigError, JudgeError
from taskshield.core.levels import Level
from taskshield.core.messages import Message, text_message
from taskshield.core.policy import Policy
from taskshield.core.tools import ToolSpec
from taskshield.integrations.mcp.checks.protocols import unchecked
from taskshield.integrations.mcp.checks.server_api import ServerApi
from taskshield.integrations.mcp.targets import is_address

_JUDGE = "taskshield server"


class RemoteChecks:
    """Sessions of a taskshield server."""

    def __init__(
        self,
        url: str,
        *,
        key: str | None = None,
        session: str | None = None,
        task: str | None = None,
        policy: Policy | None = None,
    ) -> None:
        """Prepare the checks. Nothing is sent before the first check.

        Args:
            url: Address of the server.
            key: API key with the scope `check`; with `approve` as well, clients may approve calls.
            session: Session of clients that name none.
            task: The user's task, for clients without a session.
            policy: What to do while the server cannot be reached. If None, calls with side effects
                are blocked.

        Raises:
            ConfigError: This is not an address.
        """
        if not is_address(url):
            raise ConfigError(
                "The server's address is not valid. Give one such as http://127.0.0.1:8787."
            )
        self._api = ServerApi(url, key)
        self._session = session
        self._task = task
        self._policy = Policy() if policy is None else policy

    @property
    def policy(self) -> Policy:
        """What to do while the server cannot be reached."""
        return self._policy

    def begin(self) -> "RemoteSession":
        """The configured session, or a new one."""
        if self._session is not None:
            return self.named(self._session)
        return RemoteSession(self._api, self._policy, kind="mcp", task=self._task)

    def named(self, id: str) -> "RemoteSession":
        """The session with this id."""
        return RemoteSession(self._api, self._policy, id=id)

    def about(self, task: str) -> "RemoteSession":
        """A separate session with this task only."""
        return RemoteSession(self._api, self._policy, kind="mcp-review", task=task)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._api.aclose()


class RemoteSession:
    """One session on the server. It is created there with the first check."""

    def __init__(
        self,
        api: ServerApi,
        policy: Policy,
        *,
        id: str | None = None,
        kind: str = "mcp",
        task: str | None = None,
    ) -> None:
        """Make a session.

        Args:
            api: The server.
            policy: What to do while it cannot be reached.
            id: Id of an existing session; None creates one.
            kind: First part of the id of a new session, for people who read the dashboard.
            task: The user's task in a new session.
        """
        self._api = api
        self._kind = kind
        self._policy = policy
        self._goal_known = id is not None or task is not None
        self._id = id
        self._unsent_task = task
        self._starting = anyio.Lock()

    @property
    def goal_known(self) -> bool:
        """Whether there is a task, or a session to which others send the user's messages."""
        return self._goal_known

    async def add(self, message: Message, *tools: ToolSpec) -> Decision:
        """Check the next message."""
        try:
            async with self._starting:
                if self._id is None or self._unsent_task is not None:
                    return await self._add_first(message, tools)
            return await self._api.check(self._id, [message], tools, self._policy)
        except JudgeError as error:
            return unchecked(message, tools, self._policy, error, _JUDGE)

    async def approve(self, decision: Decision) -> bool:
        """Allow a blocked call once, if the key may approve; returns whether it may."""
        try:
            return await self._api.approve(decision.id)
        except JudgeError:
            return False

    async def _add_first(self, message: Message, tools: Sequence[ToolSpec]) -> Decision:
        """Create the session, and send the user's task before the message."""
        if self._id is None:
            self._id = await self._api.create_session(self._kind)
        task = [] if self._unsent_task is None else [text_message(Level.USER, self._unsent_task)]
        decision = await self._api.check(self._id, [*task, message], tools, self._policy)
        self._unsent_task = None
        return decision
