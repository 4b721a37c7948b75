"""The hooks of an agent between which everything passes: given messages, model calls, tool calls.

Each hook is written once, as a coroutine. Where there is no event loop, it has messages judged by
a call that blocks, and so never gives up control.
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

from taskshield.api.sessions import AsyncSession, without_waiting
from taskshield.api.shields import AsyncShield, Shield
from taskshield.core.decisions import Case, Decision
from taskshield.core.errors import ConfigError
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall
from taskshield.engine.state import SessionState, with_approval
from taskshield.integrations.langchain import (
    admission,
    answers,
    briefing,
    memory,
    messages,
    results,
)
from taskshield.integrations.langchain.admission import Admission
from taskshield.integrations.langchain.memory import ShieldState, Thread
from taskshield.integrations.langchain.messages import Reader
from taskshield.integrations.langchain.results import ToolResult

T = TypeVar("T")
State = ShieldState[Any]
Update = dict[str, Any]
Judged = tuple[SessionState, list[Decision]]
"""What a session knows after some messages, and the decisions on them."""
Judging = Callable[[SessionState, Sequence[Message]], Awaitable[Judged]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Caller:
    """The agent whose tool is running, as agents inside that tool see it."""

    session: SessionState
    call: ToolCall


_CALLER: ContextVar[_Caller | None] = ContextVar("taskshield_caller", default=None)
"""Set around each tool and seen only from inside it; concurrent runs have contexts of their own."""


class ShieldMiddleware(AgentMiddleware[State, ContextT, ResponseT]):
    """Checks what an agent reads and does.

    Put it first in the list of middleware. Then it hears the user before others write messages,
    and checks what a tool returned after others have changed it.
    """

    state_schema = ShieldState

    def __init__(self, shield: Shield | AsyncShield | None = None) -> None:
        """Make middleware; it may serve several agents and any number of concurrent runs.

        Args:
            shield: Judge and policy. None makes a `Shield` with the default settings. An
                `AsyncShield` works on the agent's own event loop: for `ainvoke` and `astream` only.
        """
        super().__init__()
        self._shield = Shield() if shield is None else shield

    def before_agent(self, state: State, runtime: Runtime[ContextT]) -> Update | None:
        """Take in the messages that this run was given; those of the user are tasks."""
        return without_waiting(self._hear(state, self._judge, given=True))

    async def abefore_agent(self, state: State, runtime: Runtime[ContextT]) -> Update | None:
        """As `before_agent`."""
        return await self._hear(state, self._ajudge, given=True)

    def wrap_model_call(
        self,
        request: ModelRequest[ContextT],
        handler: Callable[[ModelRequest[ContextT]], ModelResponse[ResponseT]],
    ) -> ExtendedModelResponse[ResponseT]:
        """Check what is new to the model, and its answer with all its calls."""
        return without_waiting(self._ask(request, _immediate(handler), self._judge))

    async def awrap_model_call(
        self,
        request: ModelRequest[ContextT],
        handler: Callable[[ModelRequest[ContextT]], Awaitable[ModelResponse[ResponseT]]],
    ) -> ExtendedModelResponse[ResponseT]:
        """As `wrap_model_call`."""
        return await self._ask(request, handler, self._ajudge)

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolResult]
    ) -> ToolResult:
        """Run the call if it may run, and check what comes back."""
        return without_waiting(self._run(request, _immediate(handler), self._judge))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolResult]]
    ) -> ToolResult:
        """As `wrap_tool_call`."""
        return await self._run(request, handler, self._ajudge)

    def after_agent(self, state: State, runtime: Runtime[ContextT]) -> Update | None:
        """Take in what came after the model's last words; what is new later was given to a run."""
        return without_waiting(self._hear(state, self._judge, given=False))

    async def aafter_agent(self, state: State, runtime: Runtime[ContextT]) -> Update | None:
        """As `after_agent`."""
        return await self._hear(state, self._ajudge, given=False)

    async def _hear(self, state: State, judging: Judging, *, given: bool) -> Update | None:
        thread, reader = self._opened(state, given=given)
        if memory.is_up_to_date(state, thread):
            return None
        thread, changed = await _taken_in(thread, state["messages"], reader, judging)
        update = memory.update(replace(thread, step=None))
        return {**update, "messages": changed} if changed else update

    async def _ask(
        self,
        request: ModelRequest[ContextT],
        asking: Callable[[ModelRequest[ContextT]], Awaitable[ModelResponse[ResponseT]]],
        judging: Judging,
    ) -> ExtendedModelResponse[ResponseT]:
        thread, reader = self._opened(request.state, given=False)
        thread, changed = await _taken_in(thread, request.state["messages"], reader, judging)
        instead = {message.id: message for message in changed}
        heard: list[Any] = [instead.get(message.id, message) for message in request.messages]
        session = briefing.prompted(thread.session, request.system_message)
        while True:
            response = await asking(request.override(messages=heard))
            said = messages.last_words(response.result)
            calls = messages.open_calls(said, response.result)
            session = briefing.equipped(session, request.tools, calls)
            session, (decision,) = await judging(session, [messages.step(said, calls)])
            if calls or decision.action != "revise":
                break
            # Only words, and they serve nobody: the model speaks anew. Rounds are bounded.
            heard = [*heard, *response.result, answers.feedback(decision)]
        answer = answers.answered(response.result, calls, decision)
        thread = replace(
            thread,
            session=session,
            seen=thread.seen | memory.ids(answer),
            step=decision.case if calls else None,
        )
        # Messages that were there before take their old places: they are known by their ids.
        return ExtendedModelResponse(
            model_response=replace(response, result=[*answer, *changed]),
            command=Command(update=memory.update(thread)),
        )

    async def _run(
        self,
        request: ToolCallRequest,
        running: Callable[[ToolCallRequest], Awaitable[ToolResult]],
        judging: Judging,
    ) -> ToolResult:
        call = messages.read_call(request.tool_call)
        admitted = await self._admit(request, call, judging)
        if not admitted.verdict.allowed:
            refusal = answers.refusal(request.tool_call, admitted.decision, admitted.rejected)
            return _recorded(refusal, [refusal], admitted.cases, request.state)
        token = _CALLER.set(_Caller(session=admitted.session, call=call))
        try:
            result = await running(request)
        finally:
            _CALLER.reset(token)
        given = [answers.named(message) for message in results.messages_in(result)]
        outputs = [messages.data(message, call.id) for message in given]
        _, decisions = await judging(admitted.session, outputs)
        answer = results.answer_to(call, given)
        passed = [
            answers.passed(message, decision, admitted.note if message is answer else None)
            for message, decision in zip(given, decisions, strict=True)
        ]
        cases = (*admitted.cases, *(decision.case for decision in decisions))
        rebuilt = results.with_messages(result, iter(passed))
        return _recorded(rebuilt, passed, cases, request.state)

    async def _admit(self, request: ToolCallRequest, call: ToolCall, judging: Judging) -> Admission:
        thread, reader = self._opened(request.state, given=False)
        step = Message(level=Level.ASSISTANT, tool_calls=(call,))
        admitted = admission.known(thread, call)
        if admitted is None:
            # Nobody checked this very call: other middleware has changed it, or this is a graph
            # that has none of our other hooks.
            if not memory.is_kept(request.state):
                earlier = messages.before_answer(messages.messages_of(request.state))
                thread, _ = await _taken_in(thread, earlier, reader, judging)
            tools = [] if request.tool is None else [request.tool]
            session = briefing.equipped(thread.session, tools, [request.tool_call])
            session, (decision,) = await judging(session, [step])
            admitted = admission.checked(session, decision)
        if admitted.verdict.action != "escalate":
            return admitted
        asked = admission.request(request.tool_call, admitted.decision)
        answer = interrupt(asked, response_schema=admission.ANSWER)
        if answer["type"] == "reject":
            return replace(admitted, rejected=answer)
        approved = with_approval(admitted.session, admitted.decision)
        session, (decision,) = await judging(approved, [step])
        return admission.checked(session, decision, admitted.cases)

    def _opened(self, state: Any, *, given: bool) -> tuple[Thread, Reader]:
        """What is known of a thread, and how its new messages are to be read."""
        kept = memory.loaded(state)
        if kept is not None and not given:
            return kept, messages.read_inside
        caller = _CALLER.get()
        if caller is not None:
            return Thread(session=caller.session), messages.reader_within(caller.call)
        if kept is not None:
            return kept, messages.read_given
        return Thread(session=self._shield.session().state), messages.read_given

    async def _judge(self, session: SessionState, said: Sequence[Message]) -> Judged:
        if not said:
            return session, []
        opened = self._shield.resume(session)
        if isinstance(opened, AsyncSession):
            raise ConfigError("an AsyncShield needs ainvoke or astream; for invoke, give a Shield")
        decisions = [opened.add(message) for message in said]
        return opened.state, decisions

    async def _ajudge(self, session: SessionState, said: Sequence[Message]) -> Judged:
        if not said:
            return session, []
        if isinstance(self._shield, Shield):
            return await asyncio.to_thread(without_waiting, self._judge(session, said))
        opened = self._shield.resume(session)
        decisions = [await opened.add(message) for message in said]
        return opened.state, decisions


async def _taken_in(
    thread: Thread, given: Sequence[BaseMessage], reader: Reader, judging: Judging
) -> tuple[Thread, list[BaseMessage]]:
    """The thread after its new messages, and those of them that may not be read as they are."""
    new = [(message, reader(message)) for message in thread.unseen(given)]
    session, decisions = await judging(thread.session, [said for _, read in new for said in read])
    remaining = iter(decisions)
    changed: list[BaseMessage] = []
    for message, read in new:
        own = list(islice(remaining, len(read)))
        if read and read[0].level is Level.TOOL and not answers.is_marked(message):
            passed = answers.passed(message, own[0])
            changed += [] if passed is message else [passed]
    return replace(thread, session=session, seen=memory.ids(given)), changed


def _recorded(
    result: object, given: Sequence[BaseMessage], cases: tuple[Case, ...], state: Any
) -> ToolResult:
    """The result with what was decided on the way, where the graph has a place for that."""
    if not memory.is_kept(state):
        return cast(ToolResult, result)
    return results.with_update(result, memory.update_by_call(given, cases))


def _immediate(function: Callable[[Any], T]) -> Callable[[Any], Awaitable[T]]:
    async def call(argument: Any) -> T:
        return function(argument)

    return call
