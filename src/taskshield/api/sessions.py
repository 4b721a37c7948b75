"""Sessions of the library: async, and the same for code without an event loop."""

import uuid
from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import partial, wraps
from inspect import iscoroutine
from typing import Any, TypeVar, cast

from taskshield.adapters.conversations import anthropic_messages, openai_chat
from taskshield.adapters.parsing.tool_output import in_clear
from taskshield.api.background_loop import BackgroundLoop
from taskshield.core.decisions import Decision
from taskshield.core.instructions import TaskSet
from taskshield.core.messages import Message, ToolCall
from taskshield.core.session_state import SessionState
from taskshield.core.tools import ToolSpec
from taskshield.engine.session import Arguments, EngineSession
from taskshield.engine.tool_functions import arguments_of, guarded_call, is_async, spec_of

T = TypeVar("T")

AnyToolCall = ToolCall | Mapping[str, Any]
"""A tool call as our own value, or as the dict of an OpenAI or Anthropic message."""


class AsyncSession(EngineSession):
    """One guarded conversation. Make it with `AsyncShield.session`."""

    _in_clear = staticmethod(in_clear)

    async def assistant(
        self, text: str | None = None, tool_calls: Iterable[AnyToolCall] = ()
    ) -> Decision:
        """Check what the agent says and all its tool calls together."""
        return await super().assistant(text, [_parse_call(call) for call in tool_calls])

    def to_json(self) -> str:
        """All that the session knows, for `AsyncShield.from_json`."""
        from taskshield.adapters.stored.sessions import STATE

        return STATE.write(self.state)


class Session:
    """One guarded conversation, for code without an event loop. Make it with `Shield.session`.

    Every method runs the method of the same name of `AsyncSession` to its end.
    """

    def __init__(self, session: AsyncSession, loop: BackgroundLoop) -> None:
        self._session = session
        self._loop = loop

    @property
    def state(self) -> SessionState:
        """All that the session knows now."""
        return self._session.state

    @property
    def tasks(self) -> TaskSet:
        """The user's tasks so far."""
        return self._session.tasks

    @property
    def rounds_left(self) -> int:
        """Feedback rounds left in this turn; at 0 a misaligned call is blocked."""
        return self._session.rounds_left

    @property
    def exhausted(self) -> bool:
        """Whether no feedback round is left in this turn."""
        return self._session.exhausted

    def user(self, text: str) -> Decision:
        """Add a message of the user. The task set grows."""
        return self._loop.call(self._session.user(text))

    def assistant(
        self, text: str | None = None, tool_calls: Iterable[AnyToolCall] = ()
    ) -> Decision:
        """Check what the agent says and all its tool calls together."""
        return self._loop.call(self._session.assistant(text, tool_calls))

    def tool_call(self, name: str, arguments: Arguments, *, id: str | None = None) -> Decision:
        """Check one tool call before it runs."""
        return self._loop.call(self._session.tool_call(name, arguments, id=id))

    def tool_output(self, call_id: str, text: str, *, is_error: bool = False) -> Decision:
        """Check what a tool returned before the agent reads it."""
        return self._loop.call(self._session.tool_output(call_id, text, is_error=is_error))

    def add(self, message: Message) -> Decision:
        """Add a message of any level, and check it."""
        return self._loop.call(self._session.add(message))

    def approve(self, decision: Decision) -> None:
        """Allow what the decision blocked: once, and only until the user speaks again."""
        self._run_on_loop(self._session.approve, decision)

    def declare(self, *tools: ToolSpec) -> None:
        """Add tools that the agent may call."""
        self._run_on_loop(self._session.declare, *tools)

    def guard(self, function: Callable[..., Any], *, name: str | None = None) -> Callable[..., Any]:
        """Wrap a Python tool; sync stays sync and runs in the caller's thread, async stays async.

        A call that is not allowed is not executed; the wrapper returns the feedback instead.
        """
        spec = spec_of(function, name)
        self.declare(spec)
        if is_async(function):

            @wraps(function)
            async def guarded_async(*args: Any, **kwargs: Any) -> Any:
                run = partial(function, *args, **kwargs)
                checks = _AwaitableChecks(self._session, self._loop)
                arguments = arguments_of(function, args, kwargs)
                return await guarded_call(checks, spec.name, arguments, run, in_clear)

            return guarded_async

        @wraps(function)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            async def run() -> object:
                result = function(*args, **kwargs)
                if iscoroutine(result):
                    result.close()
                    raise TypeError("The tool returned a coroutine. Declare it with `async def`.")
                return result

            checks = _BlockingChecks(self._session, self._loop)
            arguments = arguments_of(function, args, kwargs)
            return without_waiting(guarded_call(checks, spec.name, arguments, run, in_clear))

        return guarded

    def to_json(self) -> str:
        """All that the session knows, for `Shield.from_json`."""
        return self._session.to_json()

    def _run_on_loop(self, change: Callable[..., None], *args: object) -> None:
        async def work() -> None:
            change(*args)

        self._loop.call(work())


class _BlockingChecks:
    """Checks that block until they are done: awaiting one never suspends."""

    def __init__(self, session: AsyncSession, loop: BackgroundLoop) -> None:
        self._session = session
        self._loop = loop

    async def tool_call(self, name: str, arguments: Mapping[str, object]) -> Decision:
        return self._loop.call(self._session.tool_call(name, arguments))

    async def tool_output(self, call_id: str, text: str, *, is_error: bool = False) -> Decision:
        return self._loop.call(self._session.tool_output(call_id, text, is_error=is_error))


class _AwaitableChecks:
    """Checks that run on the background loop while the caller's own loop keeps running."""

    def __init__(self, session: AsyncSession, loop: BackgroundLoop) -> None:
        self._session = session
        self._loop = loop

    async def tool_call(self, name: str, arguments: Mapping[str, object]) -> Decision:
        return await self._on_background_loop(self._session.tool_call(name, arguments))

    async def tool_output(self, call_id: str, text: str, *, is_error: bool = False) -> Decision:
        return await self._on_background_loop(
            self._session.tool_output(call_id, text, is_error=is_error)
        )

    async def _on_background_loop(self, work: Coroutine[Any, Any, Decision]) -> Decision:
        import asyncio  # not above: it is a third of the time of `import taskshield`

        return await asyncio.wrap_future(self._loop.submit(work))


def without_waiting(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never suspends: code written once serves sync and async."""
    try:
        work.send(None)
    except StopIteration as done:
        return cast(T, done.value)
    raise AssertionError("A blocking check suspended.")


def _parse_call(call: AnyToolCall) -> ToolCall:
    if isinstance(call, ToolCall):
        return call
    if not call.get("id"):
        call = {**call, "id": f"call_{uuid.uuid4().hex}"}
    if call.get("type") == "tool_use":
        message = {"role": "assistant", "content": [call]}
        return anthropic_messages.parse([message]).messages[0].tool_calls[0]
    message = {"role": "assistant", "tool_calls": [call]}
    return openai_chat.parse([message]).messages[0].tool_calls[0]
