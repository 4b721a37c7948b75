"""One run of a guarded agent, from what the user says to what the model may read of an output.

The SDK tells us what the user says, what the model is shown and what it answers, by hooks; and it
asks, by guardrails, whether a tool may run and what the model may read of its output.
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

from taskshield.adapters.conversations import openai_responses
from taskshield.core.decisions import Decision
from taskshield.core.errors import TaskShieldError
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall
from taskshield.core.tools import ToolSpec
from taskshield.engine.feedback import annotated
from taskshield.integrations.openai_agents.approvals import Approvals
from taskshield.integrations.openai_agents.memory import (
    Conversation,
    Memory,
    Messages,
    messages_of,
)

AnyAgent = Agent[Any]
Context = sdk.RunContextWrapper[Any]
Items = list[sdk.TResponseInputItem]
Outcome = sdk.ToolGuardrailFunctionOutput

NAME = "taskshield"
"""What our guardrails are called in results and traces."""

_DONE_ELSEWHERE = openai_responses.PROVIDER_RUN | {"tool_search_call"}
"""Calls that are never carried out here, so that there is nothing to hold back."""

_CALLER: ContextVar["Conversation | None"] = ContextVar("taskshield_caller", default=None)
"""Inside a tool: the conversation for which it works."""


class RunRefused(TaskShieldError, sdk.AgentsException):
    """The shield ended a run, because the SDK has no place for feedback on what was wrong."""

    def __init__(self, what: str, decision: Decision) -> None:
        super().__init__(f"taskshield ended the run: {what}")
        self.decision = decision


class GuardedRun:
    """What is known about one run. An agent inside a tool has a run of its own."""

    def __init__(self, memory: Memory, context: Context) -> None:
        self.context = context
        """The newest: the SDK makes a copy when it stores a run."""
        self.heard: Items = []
        """What the user has said and the session has not read."""
        self._memory = memory
        self._conversation: Conversation | None = None
        self._opening = asyncio.Lock()
        self._with_user = True
        """Whether the user speaks in this run, and not an agent whose tool it is."""
        self._tools: list[FunctionTool] = []
        self._specs: Sequence[ToolSpec] = ()
        self._others: frozenset[str] = frozenset()
        """Names of the tools that have no guardrails."""
        self._input: Messages = ()
        """What the run began with."""
        self._shown: Items = []
        """What the model has read."""
        self._judged: set[str] = set()
        """Ids of the calls that the session knows."""
        self._answered: set[str] = set()
        """Ids of the calls whose answer the session knows, or need not know."""
        self._decisions: dict[str, Decision] = {}
        """On the calls of the model's newest answer, by call id."""
        self._approvals = Approvals()
        """For the same calls."""
        self._note: str | None = None
        """Feedback on words that came with allowed calls; it goes with the next output."""

    def equip(self, tools: Sequence[sdk.Tool], specs: Sequence[ToolSpec]) -> list[sdk.Tool]:
        """The tools of one turn, with guardrails of this run; the specs are for the session."""
        self._specs = specs
        equipped = [
            self._guarded(tool) if isinstance(tool, FunctionTool) else tool for tool in tools
        ]
        self._tools = [tool for tool in equipped if isinstance(tool, FunctionTool)]
        others = (tool for tool in equipped if not isinstance(tool, FunctionTool))
        self._others = frozenset(tool.name for tool in others)
        return equipped

    async def before_model(self, agent: AnyAgent, instructions: str | None, items: Items) -> None:
        """Bring the session up to what the model is about to read."""
        begins = bool(self.heard) and self.heard == self.context.turn_input
        if begins:
            self._conversation = None  # an earlier run may have used the same context
        session = (await self._open(agent.name, instructions)).session
        for message in messages_of(items):
            if self._is_news(message):
                await session.add(message)
        if self._with_user and not begins:
            for message in messages_of(self.heard):
                await session.add(message)
        self.heard, self._shown = [], list(items)

    async def after_model(self, response: sdk.ModelResponse) -> None:
        """Check the model's answer, and see to it that no refused call can run.

        Raises:
            RunRefused: There is no other way to see to it.
        """
        conversation = await self._open()
        items = response.to_input_items()
        self._decisions, self._approvals, self._note = {}, Approvals(), None
        for message in messages_of(items):
            self._is_news(message)
            decision = await conversation.session.add(message)
            self._decisions.update((verdict.call.id, decision) for verdict in decision.calls)
            if not decision.allowed:
                self._approvals.settle(decision, self._tools, self.context)
                self._tell(decision, items)
        said = messages_of([*self._shown, *items])
        if self._with_user and self._is_all(said) and not any(map(_is_carried_out, items)):
            self._memory.keep(said, conversation.session.state)

    async def check_handoff(self, name: str, arguments: str) -> str | None:
        """Why the agent may not hand over, if it may not. The SDK does not say by which call."""
        known = (
            verdict.call
            for decision in self._decisions.values()
            for verdict in decision.calls
            if (verdict.call.name, verdict.call.arguments) == (name, arguments)
        )
        call = next(known, ToolCall(id=f"handoff_{name}", name=name, arguments=arguments))
        decision = await self._decision(call)
        self._answered.add(call.id)
        return None if decision.verdict_on(call.id).allowed else decision.content

    @contextmanager
    def calling(self) -> Iterator[None]:
        """Agents that are run in here work for this conversation."""
        token = _CALLER.set(self._conversation)
        try:
            yield
        finally:
            _CALLER.reset(token)

    async def _open(self, agent: str = "", instructions: str | None = None) -> Conversation:
        """The conversation that this run belongs to, brought up to the run's input."""
        async with self._opening:
            unread: Messages = ()
            conversation = self._conversation
            if conversation is None:
                conversation, unread = self._begun(messages_of(self.context.turn_input))
            conversation.session.declare(*self._specs)
            await conversation.introduce(agent, instructions)
            for message in unread:
                await conversation.session.add(message)
            self._conversation = conversation
            return conversation

    def _begun(self, said: Messages) -> tuple[Conversation, Messages]:
        """The conversation of the tool in which this runs, or else one with a user."""
        self._input, self._judged, self._answered = said, set(), set()
        for message in said:
            self._is_news(message)
        caller = _CALLER.get()
        self._with_user = caller is None
        return self._memory.recall(said) if caller is None else (caller, ())

    def _is_news(self, message: Message) -> bool:
        """Whether the session does not know these calls or this output; from now on it does."""
        calls = {call.id for call in message.tool_calls}
        answers = set() if message.answers is None else {message.answers}
        news = not (calls <= self._judged and answers <= self._answered)
        self._judged |= calls
        self._answered |= answers
        return news

    def _is_all(self, said: Messages) -> bool:
        """Whether nothing that the session has read in this run is missing here."""
        calls = {call.id for message in said for call in message.tool_calls}
        answers = {message.answers for message in said}
        begun = said[: len(self._input)] == self._input
        return begun and self._judged <= calls and self._answered <= answers

    def _tell(self, decision: Decision, items: Items) -> None:
        """Keep feedback for the model; where there is no place for it, the run has to end."""
        held = {verdict.call.id for verdict in decision.calls if not verdict.allowed}
        for item in items:
            if self._is_unguarded(item) and held & {item.get("call_id"), item.get("id")}:
                raise RunRefused(f"a {item.get('type')} was refused", decision)
        if not decision.calls and decision.action != "revise":
            raise RunRefused("its final answer was refused", decision)
        if not held:
            self._note = decision.feedback

    def _is_unguarded(self, item: sdk.TResponseInputItem) -> bool:
        """Whether the SDK carries out this call without asking a guardrail."""
        if item.get("type") == "function_call":
            return item.get("name") in self._others
        return _is_carried_out(item)

    def _guarded(self, tool: FunctionTool) -> FunctionTool:
        own_before, own_after = tool.tool_input_guardrails, tool.tool_output_guardrails
        copied = copy.copy(tool)
        copied.tool_input_guardrails = [
            sdk.ToolInputGuardrail(self._check_call, name=NAME),
            *([] if own_before is None else own_before),
        ]
        # The first guardrail that rejects an output has the last word, so ours goes with each.
        copied.tool_output_guardrails = [
            sdk.ToolOutputGuardrail(partial(self._check_replacement, own), name=own.get_name())
            for own in ([] if own_after is None else own_after)
        ] + [sdk.ToolOutputGuardrail(self._check_output, name=NAME)]
        self._approvals.apply(copied)
        if tool._is_agent_tool:
            copied.on_invoke_tool = self._called(copied.on_invoke_tool)
        return copied

    def _called(self, invoke: Any) -> Any:
        """An agent that is run as a tool. When it is taken up again, guardrails are passed over."""

        async def called(context: ToolContext[Any], arguments: str) -> Any:
            await self._open()
            with self.calling():
                return await invoke(context, arguments)

        return called

    async def _check_call(self, data: sdk.ToolInputGuardrailData) -> Outcome:
        """Let a call run, or answer it with the feedback."""
        at = data.context
        call = ToolCall(
            id=at.tool_call_id, name=at.qualified_tool_name, arguments=at.tool_arguments
        )
        asked = call.id in self._approvals.waiting or call.id not in self._decisions
        decision = await self._decision(call)
        if asked and decision.verdict_on(call.id).action == "escalate":
            if at.is_tool_approved(call.name, call.id):
                (await self._open()).session.approve(decision)
                decision = await self._judge(call)
            elif call.id in self._approvals.waiting and _looks_ahead(at):
                return Outcome.allow()
        verdict = decision.verdict_on(call.id)
        info = {"decision": decision.id, "action": verdict.action}
        if not verdict.allowed:
            self._answered.add(call.id)
            return Outcome.reject_content(decision.content, output_info=info)
        _CALLER.set(self._conversation)  # for the rest of this task, which is to run the tool
        return Outcome.allow(output_info=info)

    async def _check_output(self, data: sdk.ToolOutputGuardrailData) -> Outcome:
        """Give the model what the tool returned, or what the shield made of it."""
        content, decision = await self._read(data.context, data.output)
        info = {"decision": decision.id, "action": decision.action}
        if content == decision.case.message.text:
            return Outcome.allow(output_info=info)
        return Outcome.reject_content(content, output_info=info)

    async def _check_replacement(
        self, own: sdk.ToolOutputGuardrail[Any], data: sdk.ToolOutputGuardrailData
    ) -> Outcome:
        """Check what another guardrail gives the model in place of the output."""
        outcome = await own.run(data)
        if outcome.behavior["type"] != "reject_content":
            return outcome
        content, _ = await self._read(data.context, outcome.behavior["message"])
        given = RejectContentBehavior(type="reject_content", message=content)
        return replace(outcome, behavior=given)

    async def _read(self, at: ToolContext[Any], output: object) -> tuple[str, Decision]:
        """An output as the model may read it, and the decision on it."""
        assert at.tool_call is not None  # the SDK runs tools for calls only
        conversation = await self._open()
        (message,) = messages_of([sdk.ItemHelpers.tool_call_output_item(at.tool_call, output)])
        self._is_news(message)
        decision = await conversation.session.add(message)
        note, self._note = self._note, None
        return decision.content if note is None else annotated(decision.content, note), decision

    async def _decision(self, call: ToolCall) -> Decision:
        """The decision on a call. One that was made before the run came here is judged now."""
        decision = self._decisions.get(call.id)
        if decision is None or all(verdict.call != call for verdict in decision.calls):
            decision = await self._judge(call)
        return decision

    async def _judge(self, call: ToolCall) -> Decision:
        conversation = await self._open()
        message = Message(level=Level.ASSISTANT, tool_calls=(call,))
        self._is_news(message)
        self._decisions[call.id] = await conversation.session.add(message)
        return self._decisions[call.id]


def _looks_ahead(at: ToolContext[Any]) -> bool:
    """Whether the SDK asks guardrails before it asks a person, and again before the tool runs."""
    execution = None if at.run_config is None else at.run_config.tool_execution
    return execution is not None and execution.pre_approval_tool_input_guardrails


def _is_carried_out(item: sdk.TResponseInputItem) -> bool:
    """Whether an item asks for something that the SDK would do here."""
    kind = item.get("type")
    return openai_responses.is_call(kind) and kind not in _DONE_ELSEWHERE
