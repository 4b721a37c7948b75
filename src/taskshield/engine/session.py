"""A guarded conversation. The only module of the engine that awaits a judge.

asyncio is imported when a session is made: it is a third of the time of `import taskshield`. The
facts on calls come with the first message: their patterns take a fifth.
"""

import time
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

from taskshield.core.assessments import TaskAssessment, TaskDraft, Trace
from taskshield.core.completeness import check_assessment, check_task_assessment
from taskshield.core.decisions import Case, Decision
from taskshield.core.errors import ConversationError, JudgeError
from taskshield.core.history import Memory
from taskshield.core.instructions import Span, TaskSet
from taskshield.core.judge import Judge
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall, text_message
from taskshield.core.policy import Policy
from taskshield.core.session_state import SessionState
from taskshield.core.tools import ToolSpec
from taskshield.core.usage import NO_USAGE, Usage
from taskshield.engine.cases import (
    any_error_as_outage,
    case_without_task,
    failed_case,
    needs_no_check,
)
from taskshield.engine.decide import decide
from taskshield.engine.own_resources.values import NOTHING_KNOWN, OwnResources
from taskshield.engine.state import after, new_tasks, user_words, with_approval, with_objectives
from taskshield.engine.tool_functions import arguments_of, as_json, guarded_call, is_async, spec_of
from taskshield.engine.view import answered_call, has_unread_system, view, with_trust

if TYPE_CHECKING:
    from taskshield.engine.call_facts.facts import CallFacts

Arguments = Mapping[str, object] | str
"""Tool arguments: an object, or the text that the model wrote."""


class EngineSession:
    """One guarded conversation.

    Its methods may run concurrently. Checks of calls and outputs run side by side; all of them wait
    while a judge reads a message of the user, because it may change the tasks.
    """

    _in_clear: Callable[[str], str] = staticmethod(str)
    """Gives the text of a tool's result with its encoded words in the clear."""

    def __init__(
        self,
        *,
        judge: Judge,
        policy: Policy,
        state: SessionState,
        on_decision: Callable[[Decision], None] | None = None,
        own: OwnResources = NOTHING_KNOWN,
    ) -> None:
        self._judge = judge
        self._policy = policy
        self._own = own
        self._state = state
        self._on_decision = on_decision
        self._memory = Memory()
        import asyncio

        self._goals_lock = asyncio.Lock()

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
        """Feedback rounds left in this turn; at 0 a misaligned call is blocked."""
        return max(0, self._policy.rounds - self._state.rounds_used)

    @property
    def exhausted(self) -> bool:
        """Whether no feedback round is left in this turn."""
        return self.rounds_left == 0

    async def user(self, text: str) -> Decision:
        """Add a message of the user. The task set grows."""
        return await self.add(text_message(Level.USER, text))

    async def assistant(
        self, text: str | None = None, tool_calls: Iterable[ToolCall] = ()
    ) -> Decision:
        """Check what the agent says and all its tool calls together."""
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
        """Add a message of any level, and check it.

        Raises:
            ConversationError: Two calls of the message share an id.
        """
        started = time.perf_counter()
        if len({call.id for call in message.tool_calls}) < len(message.tool_calls):
            raise ConversationError("Two tool calls of the message have the same id.")
        message = with_trust(message, self._policy)
        facts = await self._facts(message)
        async with self._goals_lock:
            case = self._case(message, facts)
            self._state = replace(self._state, messages=case.index + 1)
            if needs_no_check(message):
                return self._conclude(case, started)
            if message.level is Level.USER:
                return self._conclude(await self._read_tasks(case), started)
        assessed = await self._assess(case, facts)
        while assessed.tasks != self._state.tasks:  # the user has spoken: judge again
            assessed = await self._assess(replace(case, trace=assessed.trace), facts)
        return self._conclude(assessed, started)

    def approve(self, decision: Decision) -> None:
        """Allow what the decision blocked: once, and only until the user speaks again.

        Only a person may decide this. Never call it on behalf of the agent.

        Raises:
            ConversationError: The user has spoken since the decision.
        """
        self._state = with_approval(self._state, decision)

    def declare(self, *tools: ToolSpec) -> None:
        """Add tools that the agent may call."""
        declared = {tool.name: tool for tool in tools}
        self._state = replace(self._state, tools={**self._state.tools, **declared})

    def guard(
        self, function: Callable[..., Any], *, name: str | None = None
    ) -> Callable[..., Awaitable[Any]]:
        """Wrap a Python tool, sync or async; a sync one runs in a thread.

        A call that is not allowed is not executed; the wrapper returns the feedback instead.
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
            return await guarded_call(
                self, spec.name, arguments_of(function, args, kwargs), run, self._in_clear
            )

        return guarded

    async def _facts(self, message: Message) -> "CallFacts":
        """What is certain about the calls. Others need not wait while long ones are read."""
        from taskshield.engine.call_facts.facts import call_facts, is_quick

        find = partial(call_facts, message, self._state.tools, self._policy, self._own)
        if is_quick(message):
            return find()
        import asyncio

        return await asyncio.to_thread(find)

    def _case(self, message: Message, facts: "CallFacts") -> Case:
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
            tiers=facts.tiers,
            answered=answered_call(state, message),
        )

    async def _assess(self, case: Case, facts: "CallFacts") -> Case:
        """Let the judge assess a message of the agent or a tool, with the tasks as they are now."""
        from taskshield.engine.call_facts.facts import without_unasked

        message = case.message
        try:
            async with self._goals_lock:
                spent = case.trace.usage + await self._read_objectives()
                shown = view(self._state, message, self._policy, facts.tiers)
                said = user_words(self._state) if facts.needs_words else ""
            case = replace(
                case,
                tasks=shown.tasks,
                objectives=shown.objectives,
                tainted=shown.tainted,
                trace=replace(case.trace, usage=spent),
            )
            if message.tool_calls and not len(shown.tasks):
                return case_without_task(case)
            with any_error_as_outage():
                answer = await self._judge.assess(message, shown)
                check_assessment(answer, message, shown)
        except JudgeError as error:
            return failed_case(case, error)
        return replace(
            case,
            check="executed",
            assessed=without_unasked(answer.items, facts, shown.tasks, said),
            trace=replace(answer.trace, usage=spent + answer.trace.usage),
        )

    async def _read_tasks(self, case: Case) -> Case:
        message = case.message
        try:
            answer = await self._read(message)
        except JudgeError as error:
            # The whole message is a sound task. Without a task, every call would be blocked.
            whole = TaskDraft(text=message.text, span=Span(start=0, end=len(message.text)))
            return failed_case(
                replace(case, tasks=new_tasks(self._state, [whole], case.index)), error
            )
        tasks = new_tasks(self._state, answer.tasks, case.index)
        return replace(case, check="executed", tasks=tasks, trace=answer.trace)

    async def _read(self, message: Message) -> TaskAssessment:
        """Let the judge read a message of the user or the system, and unread objectives with it."""
        shown = view(self._state, message, self._policy)
        with any_error_as_outage():
            answer = await self._judge.tasks(message, shown)
            check_task_assessment(answer)
        if shown.unread_system or message.level is Level.SYSTEM:
            self._state = with_objectives(self._state, answer.objectives, self._policy)
        return answer

    async def _read_objectives(self) -> Usage:
        """Read the system message, if it is new or could not be read before."""
        if not has_unread_system(self._state, self._policy):
            return NO_USAGE
        answer = await self._read(text_message(Level.SYSTEM, self._state.system))
        return answer.trace.usage

    def _conclude(self, case: Case, started: float) -> Decision:
        """Decide and update the state. Nothing is awaited here, so checks cannot interleave."""
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
        self._state = after(state, decision, self._memory.remember)
        if self._on_decision is not None:
            self._on_decision(decision)
        return decision
