"""The capability: Pydantic AI's hooks around model requests, tools and outputs."""

from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from pydantic_ai import (
    AgentRunResult,
    ApprovalRequired,
    CallToolsNode,
    DeferredToolRequests,
    ModelRequestNode,
    ModelRetry,
    ToolDefinition,
    ToolFailed,
)
from pydantic_ai import capabilities as hooks
from pydantic_ai import messages as chat
from pydantic_ai.exceptions import ToolFailedError, ToolRetryError
from pydantic_ai.models import ModelRequestContext
from pydantic_graph import End

from taskshield.api.sessions import AsyncSession
from taskshield.api.shields import AsyncShield
from taskshield.core.decisions import Decision
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall, text_message
from taskshield.engine.tool_functions import as_json
from taskshield.integrations.approvals import record_approval
from taskshield.integrations.pydantic_ai.messages import (
    METADATA,
    Arguments,
    Context,
    Prompt,
    call_of,
    is_output_tool,
    items_of,
    messages_of,
    newest_session,
    output_of,
    parts_of,
    prompt_messages,
    spec_of,
    system_text,
    text_of,
    unread_files,
    with_files,
)

_CALLER: ContextVar[AsyncSession | None] = ContextVar("taskshield_caller", default=None)
"""Inside a tool: the session that guards the run which called the tool."""


@dataclass
class TaskShield(hooks.AbstractCapability[Any]):
    """Guards every run of an agent. One shield may serve many agents and runs at once."""

    shield: AsyncShield
    _: KW_ONLY
    id: str | None = METADATA

    async def for_run(self, ctx: Context) -> hooks.AbstractCapability[Any]:
        """The guard of one run. The run of a tool's agent is guarded by the caller's session."""
        return _GuardedRun(shield=self.shield, caller=_CALLER.get())


class _GuardedRun(hooks.AbstractCapability[Any]):
    """The hooks of one run."""

    def __init__(self, *, shield: AsyncShield, caller: AsyncSession | None) -> None:
        self.id = METADATA
        self._shield = shield
        self._caller = caller
        self._prompt: Prompt | None = None
        """The user's prompt, until it is added to the session."""
        self._decisions: dict[str, Decision] = {}
        """Decisions on the calls of the model's newest message, by call id."""
        self._answered: set[str] = set()
        """Ids of the calls whose results are checked, or need no check."""
        self._note: str | None = None
        """Feedback on words of the model that no tool result can carry."""
        self._carrier: chat.ModelMessage | None = None
        """The message of this run whose metadata has the session."""
        self._messages_copied = False
        """Whether `run_stream` has given its caller a copy of the list of messages."""

    def get_ordering(self) -> hooks.CapabilityOrdering:
        """Outermost: calls and results are checked after other capabilities changed them."""
        return hooks.CapabilityOrdering(position="outermost")

    async def before_run(self, ctx: Context) -> None:
        """Open the session, or continue the one in the history."""
        if self._caller is not None:
            self._session = self._caller
            return
        known, stored = newest_session(ctx.messages)
        if stored is None:
            self._session = self._shield.session(id=ctx.conversation_id)
        else:
            self._session = self._shield.from_json(stored)
        for message in messages_of(ctx.messages[known:]):
            await self._session.add(message)
        self._prompt = ctx.prompt

    async def before_model_request(
        self, ctx: Context, request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Add the user's prompt: only now, because approved calls belong to the turn before it."""
        self._decisions = {}
        self._session.declare(*map(spec_of, ctx.tools.values()))
        if self._caller is not None:
            return request_context  # the prompt comes from a tool, not from the user
        if not self._session.state.system and (system := system_text(ctx.messages)):
            await self._session.add(text_message(Level.SYSTEM, system))
        if self._prompt is not None:
            for message in prompt_messages(self._prompt):
                await self._session.add(message)
            self._prompt = None
        if isinstance(ctx.messages[-1], chat.ModelRequest):
            self._store_session_in(ctx.messages[-1])
        return request_context

    async def after_model_request(
        self, ctx: Context, *, request_context: ModelRequestContext, response: chat.ModelResponse
    ) -> chat.ModelResponse:
        """Check the model's words and all its calls together."""
        for part in response.parts:
            if isinstance(part, chat.NativeToolReturnPart):  # the model has read it already
                await self._session.add(output_of(part))
        calls = [call for call in response.tool_calls if not is_output_tool(ctx, call.tool_name)]
        answers = [call for call in response.tool_calls if is_output_tool(ctx, call.tool_name)]
        words = [text_of(response), *(call.args_as_json_str() for call in answers)]
        unjudged = {call.id: call for call in map(call_of, calls) if not self._is_judged(call)}
        decision = await self._session.assistant("\n".join(words).strip(), unjudged.values())
        self._decisions.update(dict.fromkeys(unjudged, decision))
        if decision.allowed or not all(verdict.allowed for verdict in decision.calls):
            return response  # a blocked call brings the feedback
        if calls or decision.action == "revise":
            self._note = decision.content
            return response
        if answers:
            raise ModelRetry(decision.content)
        others = [part for part in response.parts if not isinstance(part, chat.TextPart)]
        return replace(response, parts=[*others, chat.TextPart(decision.content)])

    async def after_tool_validate(
        self, ctx: Context, *, call: chat.ToolCallPart, tool_def: ToolDefinition, args: Arguments
    ) -> Arguments:
        """Block calls before they are given to the caller of the run, who would run them."""
        if tool_def.kind in ("external", "unapproved") and not ctx.tool_call_approved:
            await self._check(ctx, call, tool_def)
        return args

    async def wrap_tool_execute(
        self,
        ctx: Context,
        *,
        call: chat.ToolCallPart,
        tool_def: ToolDefinition,
        args: Arguments,
        handler: hooks.WrapToolExecuteHandler,
    ) -> Any:
        """Run the tool if its call is allowed, and check the result before the model reads it."""
        await self._check(ctx, call, tool_def)
        token = _CALLER.set(self._session)
        try:
            result = await handler(args)
        except (ToolRetryError, ToolFailedError) as error:
            part = error.tool_retry if isinstance(error, ToolRetryError) else error.tool_failed
            assert isinstance(part, chat.ToolReturnPart), "the error answers a call"
            checked = await self._checked_part(part)
            if checked is part:
                raise
            raise type(error)(checked) from None
        finally:
            _CALLER.reset(token)
        return await self._checked(call.tool_call_id, result)

    async def wrap_output_process(
        self,
        ctx: Context,
        *,
        output_context: hooks.OutputContext,
        output: Any,
        handler: hooks.WrapOutputProcessHandler,
    ) -> Any:
        """Check an output function like any other call, once the output is complete."""
        if output_context.has_function:
            if ctx.partial_output:
                raise ModelRetry("The output is not complete yet.")  # a stream ignores this error
            name = output_context.function_name or "output"
            decision = await self._session.tool_call(name, as_json({"output": output}))
            if not decision.allowed:
                raise ModelRetry(decision.content)
        return await handler(output)

    async def after_node_run(
        self, ctx: Context, *, node: "hooks.AgentNode[Any]", result: "hooks.NodeResult[Any]"
    ) -> "hooks.NodeResult[Any]":
        """Check results that reach no other hook, and send the feedback on misaligned words.

        Pydantic AI's own retries would end the run before all feedback rounds are used.
        """
        if not isinstance(node, CallToolsNode):
            self._messages_copied = isinstance(result, End)
            return result
        request = result.request if isinstance(result, ModelRequestNode) else ctx.messages[-1]
        if isinstance(request, chat.ModelRequest):
            request.parts = [await self._checked_foreign(ctx, part) for part in request.parts]
        note, self._note = self._note, None
        if note is None:
            return result
        feedback = chat.RetryFeedbackPart(note, retry=chat.RetryInfo(cause="model_retry"))
        if isinstance(result, ModelRequestNode):
            result.request.parts = [*result.request.parts, feedback]
            return result
        if isinstance(result, End) and isinstance(result.data.output, DeferredToolRequests):
            return result
        return ModelRequestNode(chat.ModelRequest([feedback]))

    async def after_run(self, ctx: Context, *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        """Store the session in the newest message."""
        messages = result.all_messages()
        if self._caller is None and not self._messages_copied:
            messages[-1] = replace(messages[-1])
            self._store_session_in(messages[-1])
        return result

    async def _check(self, ctx: Context, call: chat.ToolCallPart, tool_def: ToolDefinition) -> None:
        """Return if the call is allowed; otherwise raise the error that fits.

        Raises:
            ApprovalRequired: A person decides.
            ToolFailed: The call is blocked; the error has the feedback.
        """
        checked = call_of(call)
        if ctx.tool_call_approved:
            await record_approval(self._session, checked)
            return
        if not self._is_judged(checked):  # a tool made it, or it was changed after the check
            self._session.declare(spec_of(tool_def))
            self._decisions[checked.id] = await self._session.assistant(None, [checked])
        decision = self._decisions[checked.id]
        verdict = decision.verdict_on(checked.id)
        if verdict.allowed:
            return
        if verdict.action == "escalate" and tool_def.kind != "external":
            if tool_def.kind == "function":
                details = {"decision": decision.id, "feedback": decision.content}
                raise ApprovalRequired(metadata={METADATA: details})
            return  # a person is asked anyway
        self._answered.add(checked.id)
        # Not ModelRetry: it uses up the tool's own retries, and the run ends when none is left.
        raise ToolFailed(decision.content)

    def _is_judged(self, call: ToolCall) -> bool:
        """Whether this call was judged with these arguments."""
        decision = self._decisions.get(call.id)
        known = None if decision is None else decision.verdict_on(call.id).call
        return known is not None and known.fingerprint() == call.fingerprint()

    async def _checked(self, call_id: str, result: Any) -> Any:
        """The result itself if it is unchanged; otherwise the checked text, with any files."""
        returned = result if isinstance(result, chat.ToolReturn) else chat.ToolReturn(result)
        value = chat.ToolReturnPart("", returned.return_value)
        extra = items_of(returned.content or [])
        parts = (*output_of(value).parts, *parts_of(extra))
        self._answered.add(call_id)
        decision = await self._session.add(Message(level=Level.TOOL, parts=parts, answers=call_id))
        if decision.content == decision.case.message.text:
            return result
        joined = with_files(decision.content, unread_files([*value.files, *extra]))
        return replace(returned, return_value=joined, content=None)

    async def _checked_part(self, part: chat.ToolReturnPart) -> chat.ToolReturnPart:
        """The same for a result that is part of a message: an error, or a result from outside."""
        output = output_of(part)
        self._answered.add(part.tool_call_id)
        decision = await self._session.add(output)
        if decision.content == output.text:
            return part
        return replace(part, content=with_files(decision.content, unread_files(part.files)))

    async def _checked_foreign(
        self, ctx: Context, part: chat.ModelRequestPart
    ) -> chat.ModelRequestPart:
        """The part, checked if it is the result of a call that ran outside of this run."""
        if not isinstance(part, chat.ToolReturnPart) or part.outcome not in ("success", "failed"):
            return part
        if part.tool_call_id in self._answered or is_output_tool(ctx, part.tool_name):
            return part
        return await self._checked_part(part)

    def _store_session_in(self, message: chat.ModelMessage) -> None:
        """Store the session in this message, and remove it from the one before."""
        if self._carrier is not None and self._carrier.metadata is not None:
            del self._carrier.metadata[METADATA]
        others = {} if message.metadata is None else message.metadata
        message.metadata = {**others, METADATA: self._session.to_json()}
        self._carrier = message
