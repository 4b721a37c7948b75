"""One run of a guarded agent: from the user's input to the outputs that the model may read.

Through hooks, the SDK reports the user's input, the model's input and its answer. Through
guardrails, it asks whether a tool may run and what the model may read of the output.
"""

import asyncio
import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import Any

import agents as sdk
from agents import Agent, FunctionTool
from agents.tool_context import ToolContext
from agents.tool_guardrails import RejectContentBehavior

from taskshield.core.decisions import Decision
from taskshield.core.errors import TaskShieldError
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall
from taskshield.core.tools import ToolSpec
from taskshield.engine.feedback import annotated
from taskshield.integrations.openai_agents.approvals import Approvals
from taskshield.integrations.openai_agents.conversations import (
    Conversation,
    ConversationCache,
    Messages,
    messages_of,
    output_of,
    runs_here,
)
from taskshield.integrations.openai_agents.known_messages import KnownMessages
from taskshield.integrations.openai_agents.sdk_internals import is_agent_tool

AnyAgent = Agent[Any]
Context = sdk.RunContextWrapper[Any]
Items = list[sdk.TResponseInputItem]
Outcome = sdk.ToolGuardrailFunctionOutput

NAME = "taskshield"
"""The name of the guardrails in results and traces."""

_CALLER: ContextVar["Conversation | None"] = ContextVar("taskshield_caller", default=None)
"""Inside a tool: the conversation that called the tool."""


class RunRefused(TaskShieldError, sdk.AgentsException):
    """The shield ended a run, because the SDK has no way to give the model the feedback."""

    def __init__(self, what: str, decision: Decision) -> None:
        super().__init__(f"taskshield ended the run: {what}.")
        self.decision = decision


class GuardedRun:
    """One run. An agent inside a tool has its own run."""

    def __init__(self, conversations: ConversationCache, context: Context) -> None:
        self.context = context
        """The newest context: the SDK copies it when it stores a run."""
        self.user_input: Items = []
        """Input of the user that the session does not have yet."""
        self._conversations = conversations
        self._conversation: Conversation | None = None
        self._opening = asyncio.Lock()
        self._with_user = True
        """Whether the input comes from the user, and not from an agent that called a tool."""
        self._tools: list[FunctionTool] = []
        self._specs: Sequence[ToolSpec] = ()
        self._unguarded: frozenset[str] = frozenset()
        """Names of the tools that have no guardrails."""
        self._model_input: Items = []
        """The items that the model has read."""
        self._known = KnownMessages()
        self._decisions: dict[str, Decision] = {}
        """Decisions on the calls of the model's newest answer, by call id."""
        self._approvals = Approvals()
        """Approvals of the same calls."""
        self._note: str | None = None
        """Feedback on words next to allowed calls; the next output carries it."""

    def equip(self, tools: Sequence[sdk.Tool], specs: Sequence[ToolSpec]) -> list[sdk.Tool]:
        """The tools of one turn with the guardrails of this run; the session gets the specs."""
        self._specs = specs
        equipped = [
            self._guarded(tool) if isinstance(tool, FunctionTool) else tool for tool in tools
        ]
        self._tools = [tool for tool in equipped if isinstance(tool, FunctionTool)]
        others = (tool for tool in equipped if not isinstance(tool, FunctionTool))
        self._unguarded = frozenset(tool.name for tool in others)
        return equipped

    async def before_model(self, agent: AnyAgent, instructions: str | None, items: Items) -> None:
        """Add what the model is about to read to the session."""
        begins = bool(self.user_input) and self.user_input == self.context.turn_input
        if begins:
            self._conversation = None  # an earlier run may have used the same context
        session = (await self._open(agent.name, instructions)).session
        for message in messages_of(items):
            if self._known.add(message):
                await session.add(message)
        if self._with_user and not begins:
            for message in messages_of(self.user_input):
                await session.add(message)
        self.user_input, self._model_input = [], list(items)

    async def after_model(self, response: sdk.ModelResponse) -> None:
        """Check the model's answer, and make sure that no blocked call can run.

        Raises:
            RunRefused: There is no other way to block a call.
        """
        conversation = await self._open()
        items = response.to_input_items()
        self._decisions, self._approvals, self._note = {}, Approvals(), None
        for message in messages_of(items):
            self._known.add(message)
            decision = await conversation.session.add(message)
            self._decisions.update((verdict.call.id, decision) for verdict in decision.calls)
            if not decision.allowed:
                self._approvals.settle(decision, self._tools, self.context)
                self._keep_feedback(decision, items)
        messages = messages_of([*self._model_input, *items])
        if self._with_user and self._known.are_in(messages) and not any(map(runs_here, items)):
            self._conversations.store(messages, conversation.session.state)

    async def check_handoff(self, name: str, arguments: str) -> str | None:
        """The feedback if a handoff is blocked. The SDK does not name the call of the handoff."""
        known = (
            verdict.call
            for decision in self._decisions.values()
            for verdict in decision.calls
            if (verdict.call.name, verdict.call.arguments) == (name, arguments)
        )
        call = next(known, ToolCall(id=f"handoff_{name}", name=name, arguments=arguments))
        decision = await self._decision(call)
        self._known.add_result(call.id)
        return None if decision.verdict_on(call.id).allowed else decision.content

    @contextmanager
    def as_caller(self) -> Iterator[None]:
        """Within this context, agents in tools work for this conversation."""
        token = _CALLER.set(self._conversation)
        try:
            yield
        finally:
            _CALLER.reset(token)

    async def _open(self, agent: str = "", instructions: str | None = None) -> Conversation:
        """The conversation of this run, with the input of the run."""
        async with self._opening:
            unread: Messages = ()
            conversation = self._conversation
            if conversation is None:
                conversation, unread = self._find(messages_of(self.context.turn_input))
            conversation.session.declare(*self._specs)
            await conversation.introduce(agent, instructions)
            for message in unread:
                await conversation.session.add(message)
            self._conversation = conversation
            return conversation

    def _find(self, messages: Messages) -> tuple[Conversation, Messages]:
        """The conversation of the caller if this runs in a tool, else the user's."""
        self._known = KnownMessages(messages)
        caller = _CALLER.get()
        self._with_user = caller is None
        return self._conversations.find(messages) if caller is None else (caller, ())

    def _keep_feedback(self, decision: Decision, items: Items) -> None:
        """Keep the feedback for the model; end the run if it cannot reach the model.

        Raises:
            RunRefused: The SDK would run a blocked call, or show a blocked answer.
        """
        blocked = {verdict.call.id for verdict in decision.calls if not verdict.allowed}
        for item in items:
            if self._is_unguarded(item) and blocked & {item.get("call_id"), item.get("id")}:
                raise RunRefused(f"a {item.get('type')} was blocked", decision)
        if not decision.calls and decision.action != "revise":
            raise RunRefused("the final answer was blocked", decision)
        if not blocked:
            self._note = decision.feedback

    def _is_unguarded(self, item: sdk.TResponseInputItem) -> bool:
        """Whether the SDK runs this call without a guardrail."""
        if item.get("type") == "function_call":
            return item.get("name") in self._unguarded
        return runs_here(item)

    def _guarded(self, tool: FunctionTool) -> FunctionTool:
        own_before, own_after = tool.tool_input_guardrails, tool.tool_output_guardrails
        copied = copy.copy(tool)
        copied.tool_input_guardrails = [
            sdk.ToolInputGuardrail(self._check_call, name=NAME),
            *([] if own_before is None else own_before),
        ]
        # The first guardrail that rejects an output decides, so the check goes into each.
        copied.tool_output_guardrails = [
            sdk.ToolOutputGuardrail(partial(self._check_replacement, own), name=own.get_name())
            for own in ([] if own_after is None else own_after)
        ] + [sdk.ToolOutputGuardrail(self._check_output, name=NAME)]
        self._approvals.apply(copied)
        if is_agent_tool(tool):
            copied.on_invoke_tool = self._as_caller_of(copied.on_invoke_tool)
        return copied

    def _as_caller_of(self, invoke: Any) -> Any:
        """The function of a tool that runs an agent. A resumed run calls it without guardrails."""

        async def invoke_as_caller(context: ToolContext[Any], arguments: str) -> Any:
            await self._open()
            with self.as_caller():
                return await invoke(context, arguments)

        return invoke_as_caller

    async def _check_call(self, data: sdk.ToolInputGuardrailData) -> Outcome:
        """Allow a call, or answer it with the feedback."""
        context = data.context
        call = ToolCall(
            id=context.tool_call_id,
            name=context.qualified_tool_name,
            arguments=context.tool_arguments,
        )
        may_be_approved = call.id in self._approvals.waiting or call.id not in self._decisions
        decision = await self._decision(call)
        if may_be_approved and decision.verdict_on(call.id).action == "escalate":
            if context.is_tool_approved(call.name, call.id):
                (await self._open()).session.approve(decision)
                decision = await self._judge(call)
            elif call.id in self._approvals.waiting and _checks_before_approval(context):
                return Outcome.allow()
        verdict = decision.verdict_on(call.id)
        info = {"decision": decision.id, "action": verdict.action}
        if not verdict.allowed:
            self._known.add_result(call.id)
            return Outcome.reject_content(decision.content, output_info=info)
        _CALLER.set(self._conversation)  # until this task ends; it runs the tool
        return Outcome.allow(output_info=info)

    async def _check_output(self, data: sdk.ToolOutputGuardrailData) -> Outcome:
        """Give the model the tool's output, as far as it may read it."""
        content, decision = await self._read(data.context, data.output)
        info = {"decision": decision.id, "action": decision.action}
        if content == decision.case.message.text:
            return Outcome.allow(output_info=info)
        return Outcome.reject_content(content, output_info=info)

    async def _check_replacement(
        self, own: sdk.ToolOutputGuardrail[Any], data: sdk.ToolOutputGuardrailData
    ) -> Outcome:
        """Check what another guardrail gives the model instead of the output."""
        outcome = await own.run(data)
        if outcome.behavior["type"] != "reject_content":
            return outcome
        content, _ = await self._read(data.context, outcome.behavior["message"])
        checked = RejectContentBehavior(type="reject_content", message=content)
        return replace(outcome, behavior=checked)

    async def _read(self, context: ToolContext[Any], output: object) -> tuple[str, Decision]:
        """The output that the model may read, and the decision on it."""
        assert context.tool_call is not None  # the SDK runs tools for calls only
        conversation = await self._open()
        message = output_of(context.tool_call, output)
        self._known.add(message)
        decision = await conversation.session.add(message)
        note, self._note = self._note, None
        return decision.content if note is None else annotated(decision.content, note), decision

    async def _decision(self, call: ToolCall) -> Decision:
        """The decision on a call. A call that was made before this run is judged now."""
        decision = self._decisions.get(call.id)
        if decision is None or all(verdict.call != call for verdict in decision.calls):
            decision = await self._judge(call)
        return decision

    async def _judge(self, call: ToolCall) -> Decision:
        conversation = await self._open()
        message = Message(level=Level.ASSISTANT, tool_calls=(call,))
        self._known.add(message)
        self._decisions[call.id] = await conversation.session.add(message)
        return self._decisions[call.id]


def _checks_before_approval(context: ToolContext[Any]) -> bool:
    """Whether the SDK asks guardrails before a person, and again before the tool runs."""
    execution = None if context.run_config is None else context.run_config.tool_execution
    return execution is not None and execution.pre_approval_tool_input_guardrails
