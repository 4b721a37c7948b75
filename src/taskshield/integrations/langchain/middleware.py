"""The middleware: hooks around a run's input, model calls and tool calls.

Each hook is written once, as a coroutine. Without an event loop, it judges messages with blocking
calls, so it never has to wait.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, TypeVar, cast

from langchain.agents.middleware import (
    AgentMiddleware,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
)
from langchain.agents.middleware.types import ContextT, ResponseT
from langchain_core.messages import BaseMessage
from langgraph.runtime import Runtime
from langgraph.types import Command, interrupt

from taskshield.adapters.conversations.host_text import by_author
from taskshield.api.sessions import AsyncSession, without_waiting
from taskshield.api.shields import AsyncShield, Shield
from taskshield.core.decisions import Case, Decision
from taskshield.core.errors import ConfigError
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall
from taskshield.core.session_state import SessionState
from taskshield.engine.state import with_approval
from taskshield.integrations.langchain import (
    call_decisions,
    incoming,
    outgoing,
    session_context,
    thread_state,
    tool_results,
)
from taskshield.integrations.langchain.call_decisions import CallDecision
from taskshield.integrations.langchain.incoming import Reader
from taskshield.integrations.langchain.thread_state import ShieldState, Thread
from taskshield.integrations.langchain.tool_results import ToolResult

T = TypeVar("T")
State = ShieldState[Any]
Update = dict[str, Any]
Judged = tuple[SessionState, list[Decision]]
"""A session after some messages, and the decisions on them."""
Judge = Callable[[SessionState, Sequence[Message]], Awaitable[Judged]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Caller:
    """The agent whose tool is running, for agents inside that tool."""

    session: SessionState
    call: ToolCall


_CALLER: ContextVar[_Caller | None] = ContextVar("taskshield_caller", default=None)
"""Set around each tool, for code inside it; concurrent runs have separate contexts."""


class ShieldMiddleware(AgentMiddleware[State, ContextT, ResponseT]):
    """Checks what an agent reads and does.

    Put it first in the list of middleware. Then it reads the user's messages before other
    middleware adds messages, and checks the results of tools after others have changed them.
    """

    state_schema = ShieldState

    def __init__(self, shield: Shield | AsyncShield | None = None) -> None:
        """Make middleware. It can serve several agents and any number of concurrent runs.

        Args:
            shield: Judge and policy. None makes a `Shield` with the default settings. An
                `AsyncShield` works on the agent's own event loop: for `ainvoke` and `astream` only.
        """
        super().__init__()
        self._shield = Shield() if shield is None else shield

    def before_agent(self, state: State, runtime: Runtime[ContextT]) -> Update | None:
        """Add the input of this run to the session; tasks are read from the user's messages."""
        return without_waiting(self._add_messages(state, self._judge, is_input=True))

    async def abefore_agent(self, state: State, runtime: Runtime[ContextT]) -> Update | None:
        """As `before_agent`."""
        return await self._add_messages(state, self._ajudge, is_input=True)

    def wrap_model_call(
        self,
        request: ModelRequest[ContextT],
        handler: Callable[[ModelRequest[ContextT]], ModelResponse[ResponseT]],
    ) -> ExtendedModelResponse[ResponseT]:
        """Check the messages that are new to the model, and its answer with all calls."""
        return without_waiting(self._call_model(request, _immediate(handler), self._judge))

    async def awrap_model_call(
        self,
        request: ModelRequest[ContextT],
        handler: Callable[[ModelRequest[ContextT]], Awaitable[ModelResponse[ResponseT]]],
    ) -> ExtendedModelResponse[ResponseT]:
        """As `wrap_model_call`."""
        return await self._call_model(request, handler, self._ajudge)

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolResult]
    ) -> ToolResult:
        """Run the call if it is allowed, and check the result."""
        return without_waiting(self._call_tool(request, _immediate(handler), self._judge))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolResult]]
    ) -> ToolResult:
        """As `wrap_tool_call`."""
        return await self._call_tool(request, handler, self._ajudge)

    def after_agent(self, state: State, runtime: Runtime[ContextT]) -> Update | None:
        """Add the messages after the model's last answer; later ones are input of another run."""
        return without_waiting(self._add_messages(state, self._judge, is_input=False))

    async def aafter_agent(self, state: State, runtime: Runtime[ContextT]) -> Update | None:
        """As `after_agent`."""
        return await self._add_messages(state, self._ajudge, is_input=False)

    async def _add_messages(self, state: State, judge: Judge, *, is_input: bool) -> Update | None:
        thread, reader = self._open(state, is_input=is_input)
        if thread_state.is_up_to_date(state, thread):
            return None
        thread, changed = await _with_new_messages(thread, state["messages"], reader, judge)
        update = thread_state.update(replace(thread, step=None))
        return {**update, "messages": changed} if changed else update

    async def _call_model(
        self,
        request: ModelRequest[ContextT],
        handler: Callable[[ModelRequest[ContextT]], Awaitable[ModelResponse[ResponseT]]],
        judge: Judge,
    ) -> ExtendedModelResponse[ResponseT]:
        thread, reader = self._open(request.state, is_input=False)
        thread, changed = await _with_new_messages(thread, request.state["messages"], reader, judge)
        replacements = {message.id: message for message in changed}
        model_input: list[Any] = [
            replacements.get(message.id, message) for message in request.messages
        ]
        session = session_context.with_system_prompt(thread.session, request.system_message)
        while True:
            response = await handler(request.override(messages=model_input))
            last = incoming.last_answer(response.result)
            calls = incoming.open_calls(last, response.result)
            session = session_context.with_called_tools(session, request.tools, calls)
            session, (decision,) = await judge(session, [incoming.read_step(last, calls)])
            if calls or decision.action != "revise":
                break
            # The words serve no task, so the model tries again. The number of rounds is limited.
            model_input = [*model_input, *response.result, outgoing.feedback_message(decision)]
        answer = outgoing.checked_answer(response.result, calls, decision)
        thread = replace(
            thread,
            session=session,
            seen=thread.seen | thread_state.ids(answer),
            step=decision.case if calls else None,
        )
        # LangGraph puts changed messages in their old places, by their ids.
        return ExtendedModelResponse(
            model_response=replace(response, result=[*answer, *changed]),
            command=Command(update=thread_state.update(thread)),
        )

    async def _call_tool(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolResult]],
        judge: Judge,
    ) -> ToolResult:
        call = incoming.read_call(request.tool_call)
        decided = await self._decide(request, call, judge)
        if not decided.verdict.allowed:
            blocked = outgoing.blocked_result(request.tool_call, decided.decision, decided.rejected)
            return _recorded(blocked, [blocked], decided.cases, request.state)
        token = _CALLER.set(_Caller(session=decided.session, call=call))
        try:
            result = await handler(request)
        finally:
            _CALLER.reset(token)
        returned = [outgoing.with_id(message) for message in tool_results.messages_in(result)]
        outputs = [incoming.read_as_output(message, call.id) for message in returned]
        _, decisions = await judge(decided.session, outputs)
        answer = tool_results.result_of(call, returned)
        checked = [
            outgoing.checked_message(message, decision, decided.note if message is answer else None)
            for message, decision in zip(returned, decisions, strict=True)
        ]
        cases = (*decided.cases, *(decision.case for decision in decisions))
        rebuilt = tool_results.with_messages(result, iter(checked))
        return _recorded(rebuilt, checked, cases, request.state)

    async def _decide(self, request: ToolCallRequest, call: ToolCall, judge: Judge) -> CallDecision:
        thread, reader = self._open(request.state, is_input=False)
        step = Message(level=Level.ASSISTANT, tool_calls=(call,))
        decided = call_decisions.earlier_decision(thread, call)
        if decided is None:
            # This call was not checked: other middleware has changed it, or the graph has none of
            # the other hooks.
            if not thread_state.has_thread(request.state):
                earlier = incoming.before_last_answer(incoming.messages_of(request.state))
                thread, _ = await _with_new_messages(thread, earlier, reader, judge)
            tools = [] if request.tool is None else [request.tool]
            session = session_context.with_called_tools(thread.session, tools, [request.tool_call])
            session, (decision,) = await judge(session, [step])
            decided = call_decisions.new_decision(session, decision)
        if decided.verdict.action != "escalate":
            return decided
        question = call_decisions.approval_request(request.tool_call, decided.decision)
        answer = interrupt(question, response_schema=call_decisions.ANSWER)
        if answer["type"] == "reject":
            return replace(decided, rejected=answer)
        approved = with_approval(decided.session, decided.decision)
        session, (decision,) = await judge(approved, [step])
        return call_decisions.new_decision(session, decision, decided.cases)

    def _open(self, state: Any, *, is_input: bool) -> tuple[Thread, Reader]:
        """The data about a thread, and the reader of its new messages."""
        stored = thread_state.load(state)
        if stored is not None and not is_input:
            return stored, incoming.read_inside
        caller = _CALLER.get()
        if caller is not None:
            return Thread(session=caller.session), incoming.reader_in_tool(caller.call)
        if stored is not None:
            return stored, incoming.read_input
        return Thread(session=self._shield.session().state), incoming.read_input

    async def _judge(self, session: SessionState, messages: Sequence[Message]) -> Judged:
        if not messages:
            return session, []
        opened = self._shield.resume(session)
        if isinstance(opened, AsyncSession):
            raise ConfigError(
                "An AsyncShield works only with ainvoke and astream. For invoke, use a Shield."
            )
        decisions = [opened.add(message) for message in messages]
        return opened.state, decisions

    async def _ajudge(self, session: SessionState, messages: Sequence[Message]) -> Judged:
        if not messages:
            return session, []
        if isinstance(self._shield, Shield):
            return await asyncio.to_thread(without_waiting, self._judge(session, messages))
        opened = self._shield.resume(session)
        decisions = [await opened.add(message) for message in messages]
        return opened.state, decisions


async def _with_new_messages(
    thread: Thread, given: Sequence[BaseMessage], reader: Reader, judge: Judge
) -> tuple[Thread, list[BaseMessage]]:
    """The thread after its new messages, and those of them whose content was changed."""
    new: list[tuple[BaseMessage, list[Message]]] = []
    data: set[int] = set()
    begun = bool(thread.seen)
    for message in thread.new_messages(given):
        read = reader(message)
        if read and read[0].level is Level.TOOL:
            data.add(len(new))
        new.append((message, [part for each in read for part in by_author(each, begun=begun)]))
        begun = begun or message.type != "system"
    session, decisions = await judge(thread.session, [each for _, read in new for each in read])
    remaining = iter(decisions)
    changed: list[BaseMessage] = []
    for number, (message, parts) in enumerate(new):
        own = list(islice(remaining, len(parts)))
        if number in data and not outgoing.is_marked(message):
            checked = outgoing.checked_message(message, own[0])
            changed += [] if checked is message else [checked]
    return replace(thread, session=session, seen=thread_state.ids(given)), changed


def _recorded(
    result: object, given: Sequence[BaseMessage], cases: tuple[Case, ...], state: Any
) -> ToolResult:
    """The result together with its decisions, if the graph has data of the shield."""
    if not thread_state.has_thread(state):
        return cast(ToolResult, result)
    return tool_results.with_update(result, thread_state.update_by_call(given, cases))


def _immediate(function: Callable[[Any], T]) -> Callable[[Any], Awaitable[T]]:
    async def call(argument: Any) -> T:
        return function(argument)

    return call
