"""The shield as a plugin of a Google ADK app.

    from google.adk.apps import App
    from taskshield import AsyncShield
    from taskshield.integrations.google_adk import TaskShieldPlugin

    app = App(name="mail", root_agent=agent, plugins=[TaskShieldPlugin(AsyncShield())])

It guards all agents of the app. The session of a conversation travels, as JSON, in the state of its
ADK session, so another process can go on. In memory are only the invocations that are under way.
"""

import uuid
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from taskshield.adapters.parsing import tool_specs
from taskshield.adapters.parsing.json_reader import Field
from taskshield.api.sessions import AsyncSession
from taskshield.api.shields import AsyncShield
from taskshield.core.decisions import Decision
from taskshield.core.errors import MissingExtraError
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Opaque, Part, Text, ToolCall, text_message
from taskshield.core.tools import ToolSpec
from taskshield.engine.tool_functions import as_json, as_text
from taskshield.integrations.approvals import let_through

try:
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.agents.invocation_context import InvocationContext
    from google.adk.events.event import Event
    from google.adk.flows.llm_flows.functions import (
        AF_FUNCTION_CALL_ID_PREFIX,
        REQUEST_CONFIRMATION_FUNCTION_CALL_NAME,
        REQUEST_EUC_FUNCTION_CALL_NAME,
        REQUEST_INPUT_FUNCTION_CALL_NAME,
    )
    from google.adk.models.llm_request import LlmRequest
    from google.adk.models.llm_response import LlmResponse
    from google.adk.plugins.base_plugin import BasePlugin
    from google.adk.tools.base_tool import BaseTool
    from google.adk.tools.function_tool import FunctionTool
    from google.adk.tools.tool_context import ToolContext
    from google.adk.utils.content_utils import SKIP_THOUGHT_SIGNATURE_VALIDATOR
    from google.genai import types
except ImportError as error:
    raise MissingExtraError("google-adk", "google-adk") from error

__all__ = ["STATE", "TaskShieldPlugin"]

STATE = "taskshield"
"""Where the session is found in the state of an ADK session."""

_ASKED = frozenset(
    {
        REQUEST_CONFIRMATION_FUNCTION_CALL_NAME,
        REQUEST_EUC_FUNCTION_CALL_NAME,
        REQUEST_INPUT_FUNCTION_CALL_NAME,
    }
)
"""What ADK asks people in the form of calls: their answers are not results of tools."""

_FEEDBACK = "taskshield_feedback"
"""A call that the shield adds to words of the model, so that feedback can answer them."""

_STEERING = {
    "transfer_to_agent": "google.adk.tools.transfer_to_agent_tool",
    "exit_loop": "google.adk.tools.exit_loop_tool",
    "finish_task": "google.adk.agents.llm.task._finish_task_tool",
    "set_model_response": "google.adk.tools.set_model_response_tool",
    REQUEST_INPUT_FUNCTION_CALL_NAME: "google.adk.tools._request_input_tool",
}
"""ADK's own tools that hand over, answer or ask the user, and where each is written."""

_UNDER_WAY = 1_000
"""Invocations that are remembered. One that is forgotten goes on from its ADK session's state."""

_CALLER: ContextVar[AsyncSession | None] = ContextVar("taskshield_caller", default=None)
"""Inside a tool: the session that guards the agent which called it."""


@dataclass(kw_only=True)
class _Guard:
    """What is known about one invocation."""

    session: AsyncSession
    is_inner: bool
    """Whether a tool has started the invocation, so that its message is not the user's."""
    decisions: dict[str, Decision] = field(default_factory=dict)
    """On calls that have not run yet, by call id."""
    notes: dict[str, str] = field(default_factory=dict)
    """Feedback on words, by the id of the call that brings it to the model."""


class _Answer(dict[str, Any]):
    """An answer of the shield's own, told from the results of tools."""


class TaskShieldPlugin(BasePlugin):
    """Guards every invocation of an app. Put it first: other plugins can end a callback early."""

    def __init__(self, shield: AsyncShield, *, name: str = "taskshield") -> None:
        super().__init__(name)
        self._shield = shield
        self._guards: OrderedDict[str, _Guard] = OrderedDict()

    async def on_user_message_callback(
        self, *, invocation_context: InvocationContext, user_message: types.Content
    ) -> types.Content | None:
        """Take in what the user says, and check results of tools that took long."""
        guard = await self._guard(invocation_context)
        if guard.is_inner:
            return None
        given = _parts(user_message)
        parts = [await _received(part, guard.session) for part in given]
        said = tuple(_said(parts))
        if said:
            await guard.session.add(Message(level=Level.USER, parts=said))
        return None if parts == given else user_message.model_copy(update={"parts": parts})

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Open the session, where no message of the user has done so."""
        await self._guard(invocation_context)

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> None:
        """Tell the session which tools there are, and what the first agent is for."""
        session = (await self._guard(callback_context)).session
        session.declare(*_specs(llm_request))
        system = llm_request.config.system_instruction
        if isinstance(system, str) and system and not session.state.system:
            await session.add(text_message(Level.SYSTEM, system))

    async def after_model_callback(
        self, *, callback_context: CallbackContext, llm_response: LlmResponse
    ) -> LlmResponse | None:
        """Check what the model says and all its calls, in one go; pieces of a stream not alone."""
        if llm_response.partial or llm_response.content is None:
            return None
        guard = await self._guard(callback_context)
        parts = _parts(llm_response.content)
        wanted = {call.id: call for call in _calls(parts)}.values()
        calls = [call for call in wanted if call.name not in _STEERING]
        steering = [call for call in wanted if call.name in _STEERING]
        words = [*_texts(parts), *(call.arguments for call in steering)]
        decision = await guard.session.assistant("\n".join(words), calls)
        guard.decisions.update({call.id: decision for call in calls})
        if decision.allowed or not all(verdict.allowed for verdict in decision.calls):
            return None  # a refused call brings the feedback
        if steering:
            guard.notes.update({call.id: decision.content for call in steering})
            return None
        if calls or decision.action == "revise":
            parts.append(_feedback_call(decision))
            guard.notes[decision.id] = decision.content
        else:
            parts = [*(part for part in parts if not part.text), types.Part(text=decision.content)]
        content = llm_response.content.model_copy(update={"parts": parts})
        return llm_response.model_copy(update={"content": content})

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> dict[str, Any] | None:
        """Let the call run, ask a person about it, or answer it with the feedback."""
        guard = await self._guard(tool_context)
        id = tool_context.function_call_id or _new_id()
        if id in guard.notes:
            return _Answer(error=guard.notes.pop(id))
        _CALLER.set(guard.session)
        if _steers(tool):
            return None
        call = ToolCall(id=id, name=tool.name, arguments=as_json(tool_args))
        confirmation = tool_context.tool_confirmation
        if confirmation is not None and not confirmation.confirmed:
            return _Answer(error="A person has rejected this call.")
        if confirmation is not None:
            await let_through(guard.session, call)
            return None
        decision = guard.decisions.pop(id, None)
        if decision is None or decision.verdict_on(id).call.fingerprint() != call.fingerprint():
            decision = await guard.session.assistant(None, [call])
        verdict = decision.verdict_on(id)
        if verdict.allowed:
            return None
        if verdict.action != "escalate" or tool_context.function_call_id is None:
            return _Answer(error=decision.content)
        tool_context.request_confirmation(hint=decision.content)
        tool_context.actions.skip_summarization = True  # the agent rests until there is an answer
        return _Answer(error="This call waits for a person's approval.")

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: Any
    ) -> dict[str, Any] | None:
        """Check what a tool gives, be it a result or an error, before the model reads it."""
        _CALLER.set(None)
        id = tool_context.function_call_id
        asked = id in tool_context.actions.requested_tool_confirmations
        if asked or isinstance(result, _Answer) or _steers(tool):
            return None
        guard = await self._guard(tool_context)
        media: list[types.Part] = []
        text = as_text(_words(result, media))
        shown: tuple[Part, ...] = (Text(text=text), *(Opaque(kind="media") for _ in media))
        decision = await guard.session.add(Message(level=Level.TOOL, parts=shown, answers=id))
        if decision.content == text:
            return None
        return {"result": decision.content, **({"media": media} if media else {})}

    async def on_event_callback(
        self, *, invocation_context: InvocationContext, event: Event
    ) -> None:
        """Store the session with every event after which the invocation may rest."""
        guard = await self._guard(invocation_context)
        rests = event.get_function_responses() or event.is_final_response()
        if rests and not event.partial and not guard.is_inner:
            event.actions.state_delta[STATE] = guard.session.to_json()

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Forget the invocation."""
        self._guards.pop(invocation_context.invocation_id, None)

    async def on_run_error_callback(
        self, *, invocation_context: InvocationContext, error: Exception
    ) -> None:
        """Forget the invocation."""
        self._guards.pop(invocation_context.invocation_id, None)

    async def _guard(self, context: InvocationContext | CallbackContext) -> _Guard:
        """The guard of an invocation, made anew where it is not known."""
        guard = self._guards.get(context.invocation_id)
        if guard is not None:
            return guard
        caller = _CALLER.get()
        unseen: Sequence[Event] = ()
        if caller is not None:
            session = caller
        elif (stored := context.session.state.get(STATE)) is not None:
            session = self._shield.from_json(stored)
            unseen = _since_stored(context.session.events)
        else:
            session = self._shield.session(id=context.session.id)
            unseen = context.session.events
        guard = _Guard(session=session, is_inner=caller is not None)
        self._guards[context.invocation_id] = guard
        if len(self._guards) > _UNDER_WAY:
            self._guards.popitem(last=False)
        for message in _past(unseen):
            await session.add(message)
        return guard


async def _received(part: types.Part, session: AsyncSession) -> types.Part:
    """A part of a message from outside; the result of a tool in it is checked."""
    response = part.function_response
    if response is None or response.name in _ASKED:
        return part
    text = as_text(response.response)
    decision = await session.tool_output(response.id or _new_id(), text)
    if decision.content == text:
        return part
    checked = response.model_copy(update={"response": {"result": decision.content}})
    return part.model_copy(update={"function_response": checked})


def _since_stored(events: Sequence[Event]) -> Sequence[Event]:
    """The events that the stored session has not seen."""
    for number in range(len(events), 0, -1):
        if STATE in events[number - 1].actions.state_delta:
            return events[number:]
    return ()


def _past(events: Sequence[Event]) -> Iterator[Message]:
    """What a session has not seen of a conversation, as it would have been told."""
    for event in events:
        parts = _parts(event.content)
        for response in event.get_function_responses():
            if response.name not in _ASKED:
                output = text_message(Level.TOOL, as_text(response.response))
                yield replace(output, answers=response.id)
        spoken = tuple(_said(parts))
        if event.author == "user" and spoken:
            yield Message(level=Level.USER, parts=spoken)
        elif event.author != "user" and not event.get_function_responses():
            said = text_message(Level.ASSISTANT, "\n".join(_texts(parts)))
            yield replace(said, tool_calls=tuple(_calls(parts)))


def _parts(content: types.Content | None) -> list[types.Part]:
    return [] if content is None or content.parts is None else list(content.parts)


def _texts(parts: Iterable[types.Part]) -> list[str]:
    """What is said; hidden reasoning is not."""
    return [part.text for part in parts if part.text and not part.thought]


def _said(parts: Iterable[types.Part]) -> Iterator[Part]:
    """The user's words, also those that answer a question of an agent."""
    for part in parts:
        response = part.function_response
        if part.text:
            yield Text(text=part.text)
        elif response is not None and response.name == REQUEST_INPUT_FUNCTION_CALL_NAME:
            for value in (response.response or {}).values():
                yield Text(text=as_text(value))
        elif part.inline_data is not None or part.file_data is not None:
            yield Opaque(kind="media")


def _calls(parts: Iterable[types.Part]) -> Iterator[ToolCall]:
    """The calls of a message, with ids: many models give none, and ADK would do the same next."""
    for part in parts:
        call = part.function_call
        if call is not None:
            call.id = call.id or _new_id()
            yield ToolCall(id=call.id, name=str(call.name), arguments=as_json(call.args or {}))


def _new_id() -> str:
    return f"{AF_FUNCTION_CALL_ID_PREFIX}{uuid.uuid4()}"


def _feedback_call(decision: Decision) -> types.Part:
    """A call that feedback can answer; ADK's own plugins let a model try again like this."""
    call = types.FunctionCall(id=decision.id, name=_FEEDBACK, args={})
    return types.Part(function_call=call, thought_signature=SKIP_THOUGHT_SIGNATURE_VALIDATOR)


def _words(result: Any, media: list[types.Part], depth: int = 0) -> Any:
    """A result without its media, which are collected. ADK looks as deep for them."""
    if isinstance(result, types.Part) and (result.inline_data or result.file_data):
        media.append(result)
        return None
    if depth < 2 and isinstance(result, dict):
        return {key: _words(value, media, depth + 1) for key, value in result.items()}
    if depth < 2 and isinstance(result, list | tuple):
        return [_words(value, media, depth + 1) for value in result]
    return result


def _steers(tool: BaseTool) -> bool:
    """Whether it is a tool of ADK's own that does nothing but steer: anybody can take its name."""
    code = tool.func if isinstance(tool, FunctionTool) else type(tool)
    return _STEERING.get(tool.name) == code.__module__


def _specs(request: LlmRequest) -> Iterator[ToolSpec]:
    """The tools that a request offers, with the hints of those that come from an MCP server."""
    for offered in request.config.tools or ():
        declared = offered.function_declarations if isinstance(offered, types.Tool) else None
        for each in declared or ():
            tool = request.tools_dict.get(str(each.name))
            hints = getattr(getattr(tool, "raw_mcp_tool", None), "annotations", None)
            schema = each.parameters
            body = {
                "name": each.name,
                "description": each.description,
                "parameters": each.parameters_json_schema
                if schema is None
                else schema.model_dump(mode="json", exclude_none=True),
                "annotations": None if hints is None else hints.model_dump(by_alias=True),
            }
            yield from tool_specs.read([Field(value=body, key="tool")])
