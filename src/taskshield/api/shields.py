"""Shields: settings and a judge, from which sessions are made.

Settings and wiring are imported when a shield is made: they import pydantic, which would more than
double the time of `import taskshield`.
"""

import os
import uuid
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from taskshield.adapters.conversations import openai_chat
from taskshield.api.background_loop import BackgroundLoop
from taskshield.api.sessions import AsyncSession, Session
from taskshield.core.decisions import Decision
from taskshield.core.judge import Judge
from taskshield.core.session_state import Counters, SessionState
from taskshield.core.tools import ToolSpec
from taskshield.core.usage import NO_USAGE, Usage
from taskshield.engine.state import counted

if TYPE_CHECKING:
    from taskshield.settings import Settings

AnyTool = ToolSpec | Mapping[str, Any]
"""A tool as our own value, or as the dict of an OpenAI, Anthropic or MCP tool definition."""


class AsyncShield:
    """A configured guard for any number of concurrent conversations."""

    def __init__(
        self,
        judge: str | Judge | None = None,
        *,
        config: str | os.PathLike[str] | None = None,
        on_decision: Callable[[Decision], None] | None = None,
        **settings: Any,
    ) -> None:
        """Make a shield. It connects at its first check.

        Args:
            judge: A name such as "openai:gpt-4o-mini" or "cascade", or a judge of your own.
            config: A YAML or TOML file with settings.
            on_decision: Called with every decision, e.g. to log it. It must return at once.
            **settings: Any key of `Settings`: base_url, api_key, timeout_s, llm, policy, ...

        Raises:
            ConfigError: A setting is wrong; the message names its key.
        """
        from taskshield.own_surroundings import own_resources
        from taskshield.settings import load
        from taskshield.wiring import build_judge, wrap_own_judge

        named = judge if isinstance(judge, str) else None
        self._settings = load({**settings, "judge": named}, config=config)
        if judge is None or isinstance(judge, str):
            self._judge = build_judge(self._settings)
        else:
            self._judge = wrap_own_judge(judge, self._settings)
        self._policy = self._settings.policy.to_policy()
        self._own = own_resources(self._settings, config=config)
        self._notify = on_decision
        self._counters = Counters()
        self._usage = NO_USAGE

    @property
    def settings(self) -> "Settings":
        """The settings in force."""
        return self._settings

    @property
    def counters(self) -> Counters:
        """Checks executed, skipped and failed, over all sessions."""
        return self._counters

    @property
    def usage(self) -> Usage:
        """Model calls and tokens used, and calls saved, over all sessions."""
        return self._usage

    def session(
        self, *, tools: Iterable[AnyTool] = (), system: str = "", id: str | None = None
    ) -> AsyncSession:
        """Start a conversation.

        Args:
            tools: The tools that the agent may call.
            system: The system message.
            id: Your own id for the session; a random one if you give none.
        """
        given = list(tools)
        read = openai_chat.parse(
            {"messages": [], "tools": [tool for tool in given if not isinstance(tool, ToolSpec)]}
        )
        specs = [tool for tool in given if isinstance(tool, ToolSpec)] + list(read.tools)
        return self.resume(
            SessionState(
                id=uuid.uuid4().hex if id is None else id,
                system=system,
                tools={spec.name: spec for spec in specs},
            )
        )

    def resume(self, state: SessionState) -> AsyncSession:
        """Resume a conversation from the state of its session (`AsyncSession.state`)."""
        return AsyncSession(
            judge=self._judge,
            policy=self._policy,
            state=state,
            on_decision=self._record,
            own=self._own,
        )

    def from_json(self, text: str) -> AsyncSession:
        """Resume a conversation from the text that `AsyncSession.to_json` returned.

        Raises:
            WireFormatError: The text is not a session.
        """
        from taskshield.adapters.stored.sessions import STATE

        return self.resume(STATE.read(text))

    async def aclose(self) -> None:
        """Close connections."""
        await self._judge.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    def _record(self, decision: Decision) -> None:
        self._counters = counted(self._counters, decision)
        self._usage += decision.case.trace.usage
        if self._notify is not None:
            self._notify(decision)


class Shield:
    """`AsyncShield` for code without an event loop. It runs in a thread of its own."""

    def __init__(
        self,
        judge: str | Judge | None = None,
        *,
        config: str | os.PathLike[str] | None = None,
        on_decision: Callable[[Decision], None] | None = None,
        **settings: Any,
    ) -> None:
        """Make a shield; the arguments are those of `AsyncShield`."""
        self._shield = AsyncShield(judge, config=config, on_decision=on_decision, **settings)
        self._loop = BackgroundLoop()

    @property
    def settings(self) -> "Settings":
        """The settings in force."""
        return self._shield.settings

    @property
    def counters(self) -> Counters:
        """Checks executed, skipped and failed, over all sessions."""
        return self._shield.counters

    @property
    def usage(self) -> Usage:
        """Model calls and tokens used, and calls saved, over all sessions."""
        return self._shield.usage

    def session(
        self, *, tools: Iterable[AnyTool] = (), system: str = "", id: str | None = None
    ) -> Session:
        """Start a conversation; the arguments are those of `AsyncShield.session`."""
        return Session(self._shield.session(tools=tools, system=system, id=id), self._loop)

    def resume(self, state: SessionState) -> Session:
        """Resume a conversation from the state of its session (`Session.state`)."""
        return Session(self._shield.resume(state), self._loop)

    def from_json(self, text: str) -> Session:
        """Resume a conversation from the text that `Session.to_json` returned."""
        return Session(self._shield.from_json(text), self._loop)

    def close(self) -> None:
        """Close connections and stop the thread."""
        try:
            self._loop.call(self._shield.aclose())
        finally:
            self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
