"""A guarded conversation. The only file of the engine that waits for a judge.

asyncio is imported when a session is made: it is a third of the time of `import taskshield`.
"""

import re
import time
import uuid
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial, wraps
from typing import Any, assert_never

from taskshield.core.assessments import AssessedInstruction, TaskAssessment, TaskDraft, Trace
from taskshield.core.completeness import check_assessment, check_task_assessment
from taskshield.core.decisions import Case, Decision, Outage
from taskshield.core.errors import (
    ConversationError,
    JudgeError,
    JudgeUnavailable,
)
from taskshield.core.instructions import Span, TaskSet
from taskshield.core.judge import Judge
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall, text_message
from taskshield.core.policy import Policy
from taskshield.core.tools import ToolSpec
from taskshield.core.usage import NO_USAGE, Usage
from taskshield.engine.decide import decide
from taskshield.engine.state import (
    SessionState,
    after,
    answered_call,
    has_unread_system,
    new_tasks,
    tiers,
    view,
    with_approval,
    with_objectives,
)
from taskshield.engine.tool_functions import arguments_of, as_json, guarded_call, is_async, spec_of

Arguments = Mapping[str, object] | str
"""Tool arguments: an object, or the text that the model wrote."""

_NO_WORDS = re.compile(r"true|false|null|none|[\d.,:;%()\[\]{}'\"+/\s-]{0,64}", re.IGNORECASE)
"""Texts too bare to hold a directive: blank, a number, a date, an empty list, a JSON literal."""


class EngineSession:
    """One conversation under guard.

    Its methods may run concurrently: everything waits while a message of the user is being read;
    checks of calls and outputs run side by side.
    """

    def __init__(
        self,
        *,
        judge: Judge,
        policy: Policy,
        state: SessionState,
        on_decision: Callable[[Decision], None] | None = None,
    ) -> None:
        self._judge = judge
        self._policy = policy
        self._state = state
        self._on_decision = on_decision
        import asyncio

        self._goals = asyncio.Lock()

    @property
    def state(self) -> SessionState:
        """What the session knows now."""
        return self._state

    @property
    def tasks(self) -> TaskSet:
        """The user's tasks so far."""
        return self._state.tasks

    @property
    def rounds_left(self) -> int:
        """Feedback rounds left in this turn; at 0 a misaligned call is blocked for good."""
        return max(0, self._policy.rounds - self._state.rounds_used)

    @property
    def exhausted(self) -> bool:
        """Whether the rounds of this turn are spent."""
        return self.rounds_left == 0

    async def user(self, text: str) -> Decision:
        """Take in what the user says: the task set grows."""
        return await self.add(text_message(Level.USER, text))

    async def assistant(
        self, text: str | None = None, tool_calls: Iterable[ToolCall] = ()
    ) -> Decision:
        """Check what the agent says and wants to do, all in one go."""
        message = text_message(Level.ASSISTANT, "" if text is None else text)
        return await self.add(replace(message, tool_calls=tuple(tool_calls)))

    async def tool_call(
        self, name: str, arguments: Arguments, *, id: str | None = None
    ) -> Decision:
        """Check one tool call before it runs."""
        call = ToolCall(
            id=f"call_{uuid.uuid4().hex}" if id is None else id,
            name=name,
            arguments=arguments if isinstance(arguments, str) else as_json(arguments),
        )
        return await self.add(Message(level=Level.ASSISTANT, tool_calls=(call,)))

    async def tool_output(self, call_id: str, text: str, *, is_error: bool = False) -> Decision:
        """Check what a tool returned before the agent reads it."""
        message = text_message(Level.TOOL, text)
        return await self.add(replace(message, answers=call_id, is_error=is_error))

    async def add(self, message: Message) -> Decision:
        """Take in a message of any level.

        Raises:
            ConversationError: Two calls of the message share an id.
        """
        started = time.perf_counter()
        if len({call.id for call in message.tool_calls}) < len(message.tool_calls):
            raise ConversationError("two tool calls of one message share an id")
        async with self._goals:
            case = self._case(message)
            self._state = replace(self._state, messages=case.index + 1)
            if _nothing_to_check(message):
                return self._conclude(case, started)
            if message.level is Level.USER:
                return self._conclude(await self._read_tasks(case), started)
        assessed = await self._assess(case)
        while assessed.tasks != self._state.tasks:  # the user has spoken meanwhile: judge anew
            assessed = await self._assess(replace(case, trace=assessed.trace))
        return self._conclude(assessed, started)

    def approve(self, decision: Decision) -> None:
        """Let through, once and in this turn of the user, what the decision held back.

        This is a person's word: never call it on behalf of the agent.

        Raises:
            ConversationError: The user has spoken since the decision.
        """
        self._state = with_approval(self._state, decision)

    def declare(self, *tools: ToolSpec) -> None:
        """Tell the session about more tools."""
        declared = {tool.name: tool for tool in tools}
        self._state = replace(self._state, tools={**self._state.tools, **declared})

    def guard(
        self, function: Callable[..., Any], *, name: str | None = None
    ) -> Callable[..., Awaitable[Any]]:
        """Wrap a Python tool, sync or async; a sync one runs in a thread.

        A call that is not allowed is not executed; its feedback is returned instead.
        """
        import asyncio

        spec = spec_of(function, name)
        self.declare(spec)

        @wraps(function)
        async def guarded(*args: Any, **kwargs: Any) -> Any:
            if is_async(function):
                run = partial(function, *args, **kwargs)
            else:
                run = partial(asyncio.to_thread, function, *args, **kwargs)
            return await guarded_call(self, spec.name, arguments_of(function, args, kwargs), run)

        return guarded

    def _case(self, message: Message) -> Case:
        state = self._state
        return Case(
            id=uuid.uuid4().hex,
            message=message,
            index=state.messages,
            policy=self._policy,
            check="skipped",
            tasks=state.tasks,
            objectives=state.objectives,
            trace=Trace(judge=self._judge.name),
            tiers=tiers(state, message, self._policy),
            answered=answered_call(state, message),
        )

    async def _assess(self, case: Case) -> Case:
        """Have a message of the agent or a tool judged, against the goals as they are now."""
        message = case.message
        try:
            async with self._goals:
                spent = case.trace.usage + await self._read_objectives()
                shown = view(self._state, message, self._policy)
            case = replace(
                case,
                tasks=shown.tasks,
                objectives=shown.objectives,
                tainted=shown.tainted,
                trace=replace(case.trace, usage=spent),
            )
            if message.tool_calls and not len(shown.tasks):
                return _without_task(case)
            with _failing_as_outage():
                reading = await self._judge.assess(message, shown)
                check_assessment(reading, message, shown)
        except JudgeError as error:
            return _failed(case, error)
        return replace(
            case,
            check="executed",
            assessed=reading.items,
            trace=replace(reading.trace, usage=spent + reading.trace.usage),
        )

    async def _read_tasks(self, case: Case) -> Case:
        message = case.message
        try:
            reading = await self._read(message)
        except JudgeError as error:
            # The user's own words, uncut, are a sound task; without any, all else is blocked.
            whole = TaskDraft(text=message.text, span=Span(start=0, end=len(message.text)))
            return _failed(replace(case, tasks=new_tasks(self._state, [whole], case.index)), error)
        tasks = new_tasks(self._state, reading.tasks, case.index)
        return replace(case, check="executed", tasks=tasks, trace=reading.trace)

    async def _read(self, message: Message) -> TaskAssessment:
        """Have a message of the user or the system read, and the objectives with it."""
        shown = view(self._state, message, self._policy)
        with _failing_as_outage():
            reading = await self._judge.tasks(message, shown)
            check_task_assessment(reading)
        if shown.unread_system or message.level is Level.SYSTEM:
            self._state = with_objectives(self._state, reading.objectives, self._policy)
        return reading

    async def _read_objectives(self) -> Usage:
        """Read a system message that came, or could not be read, since the user last spoke."""
        if not has_unread_system(self._state, self._policy):
            return NO_USAGE
        reading = await self._read(text_message(Level.SYSTEM, self._state.system))
        return reading.trace.usage

    def _conclude(self, case: Case, started: float) -> Decision:
        """Decide and move on. Nothing is awaited here, so concurrent checks cannot interleave."""
        state = self._state
        decision = decide(
            replace(
                case,
                rounds_used=state.rounds_used,
                refused=state.refused,
                approved=state.approved,
                elapsed_ms=(time.perf_counter() - started) * 1000,
            )
        )
        self._state = after(state, decision)
        if self._on_decision is not None:
            self._on_decision(decision)
        return decision


def _nothing_to_check(message: Message) -> bool:
    text = message.text.strip()
    match message.level:
        case Level.SYSTEM:
            return True
        case Level.USER:
            return not text  # "2" may choose an option
        case Level.ASSISTANT | Level.TOOL:
            return not message.tool_calls and _NO_WORDS.fullmatch(text) is not None
        case _ as unreachable:
            assert_never(unreachable)


def _failed(case: Case, error: JudgeError) -> Case:
    return replace(
        case,
        check="failed",
        outage=Outage(kind=error.kind, detail=str(error)),
        trace=replace(case.trace, usage=case.trace.usage + error.usage),
    )


def _without_task(case: Case) -> Case:
    """No task, no judge: what serves nothing is misaligned by the algorithm itself."""
    calls = tuple(
        AssessedInstruction(text=call.describe(), call_id=call.id, scores=())
        for call in case.message.tool_calls
    )
    return replace(case, check="executed", objectives=(), assessed=calls)


@contextmanager
def _failing_as_outage() -> Iterator[None]:
    """A judge may be anyone's plugin: one that breaks has given no verdict, like one that fails."""
    try:
        yield
    except JudgeError:
        raise
    except Exception as error:
        raise JudgeUnavailable(f"the judge broke: {type(error).__name__}") from error
