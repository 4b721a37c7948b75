"""The shield as a capability of a Pydantic AI agent.

    from pydantic_ai import Agent
    from taskshield import AsyncShield
    from taskshield.integrations.pydantic_ai import TaskShield

    agent = Agent("openai:gpt-5", tools=[...], capabilities=[TaskShield(AsyncShield())])

Nothing is kept between runs: the session of a conversation travels, as JSON, in the metadata of its
newest message. So one agent may serve any number of conversations, in any number of processes.
"""

from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass, replace
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
from taskshield.engine.tool_functions import as_json
from taskshield.integrations.approvals import let_through

try:
    from pydantic_ai import (
        AgentRunResult,
        ApprovalRequired,
        CallToolsNode,
        DeferredToolRequests,
        ModelRequestNode,
        ModelRetry,
        RunContext,
        ToolDefinition,
        ToolFailed,
    )
    from pydantic_ai import capabilities as hooks
    from pydantic_ai import messages as wire
    from pydantic_ai.exceptions import ToolFailedError, ToolRetryError
    from pydantic_ai.models import ModelRequestContext
    from pydantic_graph import End
except ImportError as error:
    raise MissingExtraError("pydantic-ai-slim", "pydantic-ai") from error

__all__ = ["METADATA", "TaskShield"]

METADATA = "taskshield"
"""Where the session is found in a message's metadata, and the feedback in that of an approval."""

_CALLER: ContextVar[AsyncSession | None] = ContextVar("taskshield_caller", default=None)
"""Inside a tool: the session that guards the run which called it."""

Context = RunContext[Any]
Arguments = dict[str, Any]
Prompt = str | Sequence[wire.UserContent]


@dataclass
class TaskShield(hooks.AbstractCapability[Any]):
    """Guards every run of an agent. One shield may serve many agents and runs at once."""

    shield: AsyncShield
    _: KW_ONLY
    id: str | None = METADATA

    async def for_run(self, ctx: Context) -> hooks.AbstractCapability[Any]:
        """The guard of one run. An agent that a tool calls is guarded by its caller's session."""
        return _GuardedRun(shield=self.shield, caller=_CALLER.get())


class _GuardedRun(hooks.AbstractCapability[Any]):
    """The hooks of one run."""

    def __init__(self, *, shield: AsyncShield, caller: AsyncSession | None) -> None:
        self.id = METADATA
        self._shield = shield
        self._caller = caller
        self._prompt: Prompt | None = None
        """What the user says in this run, until the model is about to read it."""
        self._decisions: dict[str, Decision] = {}
        """On the calls of the model's newest message, by call id."""
        self._answered: set[str] = set()
        """Ids of the calls whose results have been seen to."""
        self._note: str | None = None
        """Feedback on words of the model that no tool result carries."""
        self._carrier: wire.ModelMessage | None = None
        """The message of this run that holds the session."""
        self._handed_out = False
        """Whether `run_stream` has given its caller a list of messages of its own."""

    def get_ordering(self) -> hooks.CapabilityOrdering:
        """Outermost: what is checked is what other capabilities have made of calls and results."""
        return hooks.CapabilityOrdering(position="outermost")

    async def before_run(self, ctx: Context) -> None:
        """Open the session, or go on with the one that the history holds."""
        if self._caller is not None:
            self._session = self._caller
            return
        seen, stored = _newest_session(ctx.messages)
        if stored is None:
            self._session = self._shield.session(id=ctx.conversation_id)
        else:
            self._session = self._shield.from_json(stored)
        for message in _past(ctx.messages[seen:]):
            await self._session.add(message)
        self._prompt = ctx.prompt

    async def before_model_request(
        self, ctx: Context, request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Take in what the user says, but after approved calls: they belong to the turn before."""
        self._decisions = {}
        self._session.declare(*map(_spec, ctx.tools.values()))
        if self._caller is not None:
            return request_context  # the prompt is what a tool says, not the user
        if not self._session.state.system and (system := _system(ctx.messages)):
            await self._session.add(text_message(Level.SYSTEM, system))
        if self._prompt is not None:
            await self._session.add(Message(level=Level.USER, parts=tuple(_parts(self._prompt))))
            self._prompt = None
        if isinstance(ctx.messages[-1], wire.ModelRequest):
            self._leave_session_with(ctx.messages[-1])
        return request_context

    async def after_model_request(
        self, ctx: Context, *, request_context: ModelRequestContext, response: wire.ModelResponse
    ) -> wire.ModelResponse:
        """Check what the model says and all its calls, in one go."""
        for part in response.parts:
            if isinstance(part, wire.NativeToolReturnPart):  # the model has read it; remember it
                await self._session.tool_output(part.tool_call_id, part.model_response_str())
        calls = [call for call in response.tool_calls if not _is_output(ctx, call.tool_name)]
        answers = [call for call in response.tool_calls if _is_output(ctx, call.tool_name)]
        words = [_said(response), *(call.args_as_json_str() for call in answers)]
        unjudged = {call.id: call for call in map(_call, calls) if not self._is_judged(call)}
        decision = await self._session.assistant("\n".join(words).strip(), unjudged.values())
        self._decisions.update(dict.fromkeys(unjudged, decision))
        if decision.allowed or not all(verdict.allowed for verdict in decision.calls):
            return response  # a refused call carries the feedback
        if calls or decision.action == "revise":
            self._note = decision.content
            return response
        if answers:
            raise ModelRetry(decision.content)
        others = [part for part in response.parts if not isinstance(part, wire.TextPart)]
        return replace(response, parts=[*others, wire.TextPart(decision.content)])

    async def after_tool_validate(
        self, ctx: Context, *, call: wire.ToolCallPart, tool_def: ToolDefinition, args: Arguments
    ) -> Arguments:
        """Hold back calls that would be handed out to others, who would carry them out."""
        if tool_def.kind in ("external", "unapproved") and not ctx.tool_call_approved:
            await self._admit(ctx, call, tool_def)
        return args

    async def wrap_tool_execute(
        self,
        ctx: Context,
        *,
        call: wire.ToolCallPart,
        tool_def: ToolDefinition,
        args: Arguments,
        handler: hooks.WrapToolExecuteHandler,
    ) -> Any:
        """Run the tool if its call may run, and check what it gives before the model reads it."""
        await self._admit(ctx, call, tool_def)
        token = _CALLER.set(self._session)
        try:
            result = await handler(args)
        except (ToolRetryError, ToolFailedError) as error:
            part = error.tool_retry if isinstance(error, ToolRetryError) else error.tool_failed
            assert isinstance(part, wire.ToolReturnPart), "the error answers a call"
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
        """Check an output function like any call. It runs once, on the whole output."""
        if output_context.has_function:
            if ctx.partial_output:
                raise ModelRetry("The output is not complete yet.")  # a stream skips this one
            name = output_context.function_name or "output"
            decision = await self._session.tool_call(name, as_json({"output": output}))
            if not decision.allowed:
                raise ModelRetry(decision.content)
        return await handler(output)

    async def after_node_run(
        self, ctx: Context, *, node: "hooks.AgentNode[Any]", result: "hooks.NodeResult[Any]"
    ) -> "hooks.NodeResult[Any]":
        """See to results that no other hook was shown, and have misaligned words revised.

        Retries of Pydantic AI's own would end the run before the session's rounds are spent.
        """
        if not isinstance(node, CallToolsNode):
            self._handed_out = isinstance(result, End)
            return result
        request = result.request if isinstance(result, ModelRequestNode) else ctx.messages[-1]
        if isinstance(request, wire.ModelRequest):
            request.parts = [await self._seen_to(ctx, part) for part in request.parts]
        note, self._note = self._note, None
        if note is None:
            return result
        feedback = wire.RetryFeedbackPart(note, retry=wire.RetryInfo(cause="model_retry"))
        if isinstance(result, ModelRequestNode):
            result.request.parts = [*result.request.parts, feedback]
            return result
        if isinstance(result, End) and isinstance(result.data.output, DeferredToolRequests):
            return result
        return ModelRequestNode(wire.ModelRequest([feedback]))

    async def after_run(self, ctx: Context, *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        """Leave the session with the newest message."""
        messages = result.all_messages()
        if self._caller is None and not self._handed_out:
            messages[-1] = replace(messages[-1])
            self._leave_session_with(messages[-1])
        return result

    async def _admit(self, ctx: Context, call: wire.ToolCallPart, tool_def: ToolDefinition) -> None:
        """Return if the call may run; otherwise say why not, in the way that fits."""
        wanted = _call(call)
        if ctx.tool_call_approved:
            await let_through(self._session, wanted)
            return
        if not self._is_judged(wanted):  # made by a tool, or changed since the model made it
            self._session.declare(_spec(tool_def))
            self._decisions[wanted.id] = await self._session.assistant(None, [wanted])
        decision = self._decisions[wanted.id]
        verdict = decision.verdict_on(wanted.id)
        if verdict.allowed:
            return
        if verdict.action == "escalate" and tool_def.kind != "external":
            if tool_def.kind == "function":
                told = {"decision": decision.id, "feedback": decision.content}
                raise ApprovalRequired(metadata={METADATA: told})
            return  # a person is asked anyway
        self._answered.add(wanted.id)
        # Not ModelRetry: that counts against the tool's own retries, and too many end the run.
        raise ToolFailed(decision.content)

    def _is_judged(self, call: ToolCall) -> bool:
        """Whether there is a verdict on this very call."""
        decision = self._decisions.get(call.id)
        if decision is None:
            return False
        return decision.verdict_on(call.id).call.fingerprint() == call.fingerprint()

    async def _checked(self, call_id: str, result: Any) -> Any:
        """The result itself where it passed unchanged; otherwise text, beside any files."""
        returned = result if isinstance(result, wire.ToolReturn) else wire.ToolReturn(result)
        value = wire.ToolReturnPart("", returned.return_value)
        beside = _items(returned.content or [])
        shown = (Text(text=value.model_response_str()), *_parts([*value.files, *beside]))
        self._answered.add(call_id)
        decision = await self._session.add(Message(level=Level.TOOL, parts=shown, answers=call_id))
        if decision.content == decision.case.message.text:
            return result
        wordless = [item for item in beside if not isinstance(item, str | wire.TextContent)]
        joined = _joined(decision, [*value.files, *wordless])
        return replace(returned, return_value=joined, content=None)

    async def _checked_part(self, part: wire.ToolReturnPart) -> wire.ToolReturnPart:
        """The same for a result that is a part of a message already: an error, or from outside."""
        text = part.model_response_str(wrap_if_error=False)
        id, failed = part.tool_call_id, part.outcome != "success"
        self._answered.add(id)
        decision = await self._session.tool_output(id, text, is_error=failed)
        if decision.content == text:
            return part
        return replace(part, content=_joined(decision, part.files))

    async def _seen_to(self, ctx: Context, part: wire.ModelRequestPart) -> wire.ModelRequestPart:
        """The part, checked if it answers a call that was carried out elsewhere."""
        if not isinstance(part, wire.ToolReturnPart) or part.outcome not in ("success", "failed"):
            return part
        if part.tool_call_id in self._answered or _is_output(ctx, part.tool_name):
            return part
        return await self._checked_part(part)

    def _leave_session_with(self, message: wire.ModelMessage) -> None:
        """Only the newest message of a run holds the session."""
        if self._carrier is not None and self._carrier.metadata is not None:
            del self._carrier.metadata[METADATA]
        others = {} if message.metadata is None else message.metadata
        message.metadata = {**others, METADATA: self._session.to_json()}
        self._carrier = message


def _newest_session(messages: Sequence[wire.ModelMessage]) -> tuple[int, str | None]:
    """The newest session in a history, and how many messages it has seen."""
    for number in range(len(messages), 0, -1):
        metadata = messages[number - 1].metadata
        if metadata is not None and METADATA in metadata:
            return number, metadata[METADATA]
    return 0, None


def _past(messages: Sequence[wire.ModelMessage]) -> Iterator[Message]:
    """What a session has not seen of a history, as it would have been told.

    Prompts beside tool results may be a tool's own (`ToolReturn.content`), so they are no tasks.
    """
    for message in messages:
        if isinstance(message, wire.ModelResponse):
            said = text_message(Level.ASSISTANT, _said(message))
            calls = {call.id: call for call in map(_call, message.tool_calls)}
            yield replace(said, tool_calls=tuple(calls.values()))
            continue
        results = [part for part in message.parts if isinstance(part, wire.ToolReturnPart)]
        for result in results:
            output = text_message(Level.TOOL, result.model_response_str(wrap_if_error=False))
            yield replace(output, answers=result.tool_call_id, is_error=result.outcome != "success")
        level = Level.TOOL if results else Level.USER
        for part in message.parts:
            if isinstance(part, wire.UserPromptPart):
                yield Message(level=level, parts=tuple(_parts(part.content)))


def _system(messages: Sequence[wire.ModelMessage]) -> str:
    """The instructions that go with the newest request, and the system prompts of all."""
    parts = [part for message in messages for part in message.parts]
    texts = [part.content for part in parts if isinstance(part, wire.SystemPromptPart)]
    newest = messages[-1]
    if isinstance(newest, wire.ModelRequest) and newest.instructions is not None:
        texts.append(newest.instructions)
    return "\n\n".join(texts)


def _said(response: wire.ModelResponse) -> str:
    """What is said in a response; hidden reasoning is not."""
    parts = [part for part in response.parts if isinstance(part, wire.TextPart | wire.SpeechPart)]
    return "\n".join(part.content for part in parts if part.content)


def _joined(decision: Decision, files: Sequence[Any]) -> Any:
    return [decision.content, *files] if files else decision.content


def _items(content: Prompt) -> Sequence[wire.UserContent]:
    return [content] if isinstance(content, str) else content


def _parts(content: Prompt) -> Iterator[Part]:
    for item in _items(content):
        if isinstance(item, str):
            yield Text(text=item)
        elif isinstance(item, wire.TextContent):
            yield Text(text=item.content)
        else:
            yield Opaque(kind=item.kind)


def _call(part: wire.ToolCallPart) -> ToolCall:
    return ToolCall(id=part.tool_call_id, name=part.tool_name, arguments=part.args_as_json_str())


def _is_output(ctx: Context, tool: str) -> bool:
    """Whether calling this tool is how the model gives its answer."""
    return tool in ctx.tools and ctx.tools[tool].kind == "output"


def _spec(tool: ToolDefinition) -> ToolSpec:
    body = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters_json_schema,
        # An MCP server's hints.
        "annotations": None if tool.metadata is None else tool.metadata.get("annotations"),
    }
    (spec,) = tool_specs.read([Field(value=body, key="tool")])
    return spec
