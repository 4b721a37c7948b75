"""The plugin: ADK's callbacks around messages, models and tools.

The session of a conversation is stored, as JSON, in the state of its ADK session, so another
process can continue it. Only open invocations are in memory.
"""

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from cachetools import LRUCache
from google.adk.agents.base_agent import BaseAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.adk.utils.content_utils import SKIP_THOUGHT_SIGNATURE_VALIDATOR
from google.genai import types

from taskshield.api.sessions import AsyncSession
from taskshield.api.shields import AsyncShield
from taskshield.core.decisions import Decision
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall, text_message
from taskshield.engine.tool_functions import as_json
from taskshield.integrations.approvals import record_approval
from taskshield.integrations.google_adk.code_execution import (
    code_to_run,
    returned_by,
    with_text,
    without_code,
)
from taskshield.integrations.google_adk.contents import (
    attachments,
    calls_of,
    messages_of,
    new_call_id,
    output_of,
    parts_of,
    specs_of,
    texts_of,
    user_parts,
    without_media,
    words_of,
)
from taskshield.integrations.google_adk.control_tools import CONTROL_TOOLS, is_control_tool

STATE = "taskshield"
"""The key of the session in the state of an ADK session."""

_FEEDBACK = "taskshield_feedback"
"""A call that the shield adds to words of the model, so that feedback can answer them."""

_MOST_INVOCATIONS = 1_000
"""Most invocations in memory. A dropped one continues from the state of its ADK session."""

_CALLER: ContextVar[AsyncSession | None] = ContextVar("taskshield_caller", default=None)
"""Inside a tool: the session that guards the agent which called the tool."""


@dataclass(kw_only=True)
class _Guard:
    """What the plugin knows of one invocation."""

    session: AsyncSession
    is_inner: bool
    """Whether a tool has started the invocation, so that its message is not the user's."""
    decisions: dict[str, Decision] = field(default_factory=dict)
    """Decisions on calls that have not run yet, by call id."""
    notes: dict[str, str] = field(default_factory=dict)
    """Feedback on words, by the id of the call that brings it to the model."""
    agent: BaseAgent | None = None
    """The first agent."""
    read: list[types.Part] = field(default_factory=list)
    """Results in the model's newest answer that were checked."""


class _ShieldResult(dict[str, Any]):
    """A result of a call that the shield gives, and not the tool."""


class TaskShieldPlugin(BasePlugin):
    """Guards every invocation of an app. Put it first: other plugins can end a callback early."""

    def __init__(self, shield: AsyncShield, *, name: str = "taskshield") -> None:
        super().__init__(name)
        self._shield = shield
        self._guards: LRUCache[str, _Guard] = LRUCache(_MOST_INVOCATIONS)

    async def on_user_message_callback(
        self, *, invocation_context: InvocationContext, user_message: types.Content
    ) -> types.Content | None:
        """Add the user's message, and check the results of long-running tools in it."""
        guard = await self._guard(invocation_context)
        if guard.is_inner:
            return None
        given = parts_of(user_message)
        parts = [await _checked_part(part, guard.session) for part in given]
        words = tuple(user_parts(parts))
        if words:
            await guard.session.add(Message(level=Level.USER, parts=words))
        for message in attachments(parts):
            await guard.session.add(message)
        return None if parts == given else user_message.model_copy(update={"parts": parts})

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Open the session, unless a message of the user has done so."""
        await self._guard(invocation_context)

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> None:
        """Declare the tools to the session, and add the instructions of the first agent."""
        session = (await self._guard(callback_context)).session
        session.declare(*specs_of(llm_request))
        system = llm_request.config.system_instruction
        if isinstance(system, str) and system and not session.state.system:
            await session.add(text_message(Level.SYSTEM, system))

    async def after_model_callback(
        self, *, callback_context: CallbackContext, llm_response: LlmResponse
    ) -> LlmResponse | None:
        """Check the model's words and all its calls together, once a stream is complete."""
        if llm_response.partial or llm_response.content is None:
            return None
        guard = await self._guard(callback_context)
        given = parts_of(llm_response.content)
        parts = guard.read = [await _checked_part(part, guard.session) for part in given]
        llm_response = _with_parts(llm_response, parts)
        code = code_to_run(_agent_of(guard, callback_context), parts)
        all_calls = {call.id: call for call in calls_of(parts)}.values()
        calls = [call for call in all_calls if call.name not in CONTROL_TOOLS]
        control = [call for call in all_calls if call.name in CONTROL_TOOLS]
        words = [*texts_of(parts), *(call.arguments for call in control)]
        decision = await guard.session.assistant("\n".join(words), [*calls, *code])
        guard.decisions.update({call.id: decision for call in calls})
        if not all(decision.verdict_on(call.id).allowed for call in code):
            guard.notes[decision.id] = decision.content
            return _with_parts(llm_response, [*without_code(parts), _feedback_call(decision)])
        if decision.allowed or not all(verdict.allowed for verdict in decision.calls):
            return llm_response if parts != given else None  # a blocked call brings the feedback
        if control:
            guard.notes.update({call.id: decision.content for call in control})
            return llm_response
        if calls or code or decision.action == "revise":
            parts = [*parts, _feedback_call(decision)]
            guard.notes[decision.id] = decision.content
        else:
            parts = [*(part for part in parts if not part.text), types.Part(text=decision.content)]
        return _with_parts(llm_response, parts)

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> dict[str, Any] | None:
        """Allow the call, ask a person about it, or answer it with the feedback."""
        guard = await self._guard(tool_context)
        id = tool_context.function_call_id or new_call_id()
        if id in guard.notes:
            return _ShieldResult(error=guard.notes.pop(id))
        _CALLER.set(guard.session)
        if is_control_tool(tool):
            return None
        call = ToolCall(id=id, name=tool.name, arguments=as_json(tool_args))
        confirmation = tool_context.tool_confirmation
        if confirmation is not None and not confirmation.confirmed:
            return _ShieldResult(error="A person has rejected this call.")
        if confirmation is not None:
            await record_approval(guard.session, call)
            return None
        decision = guard.decisions.pop(id, None)
        if decision is None or decision.verdict_on(id).call.fingerprint() != call.fingerprint():
            decision = await guard.session.assistant(None, [call])
        verdict = decision.verdict_on(id)
        if verdict.allowed:
            return None
        if verdict.action != "escalate" or tool_context.function_call_id is None:
            return _ShieldResult(error=decision.content)
        tool_context.request_confirmation(hint=decision.content)
        tool_context.actions.skip_summarization = True  # the agent pauses until there is an answer
        return _ShieldResult(error="This call waits for a person's approval.")

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: Any
    ) -> dict[str, Any] | None:
        """Check a tool's result or error before the model reads it."""
        _CALLER.set(None)
        id = tool_context.function_call_id
        is_waiting = id in tool_context.actions.requested_tool_confirmations
        if is_waiting or isinstance(result, _ShieldResult) or is_control_tool(tool):
            return None
        guard = await self._guard(tool_context)
        media: list[types.Part] = []
        output = output_of(without_media(result, media), id, media)
        decision = await guard.session.add(output)
        if decision.content == output.text:
            return None
        unread = [part for part in media if words_of(part) is None]
        return {"result": decision.content, **({"media": unread} if unread else {})}

    async def on_event_callback(
        self, *, invocation_context: InvocationContext, event: Event
    ) -> None:
        """Check what code has printed; store the session with events that may end a run."""
        guard = await self._guard(invocation_context)
        if event.author != "user" and event.content is not None and not event.partial:
            event.content.parts = [
                part
                if part.function_response or part in guard.read
                else await _checked_part(part, guard.session)
                for part in parts_of(event.content)
            ]
        may_pause = event.get_function_responses() or event.is_final_response()
        if may_pause and not event.partial and not guard.is_inner:
            event.actions.state_delta[STATE] = guard.session.to_json()

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Drop the invocation."""
        self._guards.pop(invocation_context.invocation_id, None)

    async def on_run_error_callback(
        self, *, invocation_context: InvocationContext, error: Exception
    ) -> None:
        """Drop the invocation."""
        self._guards.pop(invocation_context.invocation_id, None)

    async def _guard(self, context: InvocationContext | CallbackContext) -> _Guard:
        """The guard of an invocation; it is created if it is not in memory."""
        guard = self._guards.get(context.invocation_id)
        if guard is not None:
            return guard
        caller = _CALLER.get()
        new_events: Sequence[Event] = ()
        if caller is not None:
            session = caller
        elif (stored := context.session.state.get(STATE)) is not None:
            session = self._shield.from_json(stored)
            new_events = _since_stored(context.session.events)
        else:
            session = self._shield.session(id=context.session.id)
            new_events = context.session.events
        guard = _Guard(session=session, is_inner=caller is not None)
        if isinstance(context, InvocationContext) and isinstance(context.agent, BaseAgent):
            guard.agent = context.agent
        self._guards[context.invocation_id] = guard
        for message in messages_of(new_events):
            await session.add(message)
        return guard


def _is_checked(part: types.Part, guard: _Guard) -> bool:
    return part.function_response is not None or part in guard.read


async def _checked_part(part: types.Part, session: AsyncSession) -> types.Part:
    """A part of a message; if it is the result of a tool or of code, it is checked."""
    result = returned_by(part)
    if result is None:
        return part
    output = output_of(result.value, result.answers or new_call_id())
    decision = await session.add(output)
    return part if decision.content == output.text else with_text(part, decision.content)


def _with_parts(response: LlmResponse, parts: list[types.Part]) -> LlmResponse:
    assert response.content is not None
    content = response.content.model_copy(update={"parts": parts})
    return response.model_copy(update={"content": content})


def _agent_of(guard: _Guard, context: CallbackContext) -> BaseAgent | None:
    """The agent whose model has answered."""
    first = guard.agent
    return None if first is None else first.root_agent.find_agent(context.agent_name)


def _since_stored(events: Sequence[Event]) -> Sequence[Event]:
    """The events that the stored session does not have."""
    for number in range(len(events), 0, -1):
        if STATE in events[number - 1].actions.state_delta:
            return events[number:]
    return ()


def _feedback_call(decision: Decision) -> types.Part:
    """A call that feedback can answer; ADK's own plugins ask a model to retry in the same way."""
    call = types.FunctionCall(id=decision.id, name=_FEEDBACK, args={})
    return types.Part(function_call=call, thought_signature=SKIP_THOUGHT_SIGNATURE_VALIDATOR)
