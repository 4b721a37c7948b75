"""Makes guarded copies of agents, with their hooks, tools and handoffs.

Everything is attached to the agent, so a run cannot omit a part: hooks get what the model reads and
answers; every tool, also of MCP servers, has two guardrails; the agents of its handoffs are guarded
as well. What happens in a run is in `guarded_run`.
"""

import copy
import inspect
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import fields
from typing import Any, ClassVar, TypeVar

import agents as sdk
from agents import Agent, FunctionTool, Handoff

from taskshield.adapters.parsing import tool_specs
from taskshield.adapters.parsing.json_reader import Field
from taskshield.api.shields import AsyncShield
from taskshield.core.errors import ConfigError
from taskshield.core.tools import ToolSpec
from taskshield.integrations.openai_agents.conversations import ConversationCache
from taskshield.integrations.openai_agents.guarded_run import (
    NAME,
    AnyAgent,
    Context,
    GuardedRun,
    Items,
)
from taskshield.integrations.openai_agents.sdk_internals import (
    agent_of,
    is_agent_tool,
    set_target,
    target_of,
)

TContext = TypeVar("TContext")

_RUN = "_taskshield_run"
"""The attribute of a context that has its run. The SDK copies it together with the context."""

_HANDOFF_FEEDBACK: ContextVar[str | None] = ContextVar("taskshield_handoff_feedback", default=None)
"""The feedback on the last handoff of this task, if it was blocked."""


def guard(agent: Agent[TContext], shield: AsyncShield) -> Agent[TContext]:
    """A guarded copy of an agent, and of all agents that it may hand over to.

    Give the copy to `Runner.run`, `run_sync` or `run_streamed`. Guard an agent before you make it a
    tool: `guard(agent, shield).as_tool(...)`.

    Raises:
        ConfigError: A part of the agent cannot be guarded; the message names it.
    """
    if not isinstance(agent, Agent):
        raise ConfigError(f"guard() needs an Agent, not a {type(agent).__name__}.")
    if not isinstance(shield, AsyncShield):
        raise ConfigError(f"guard() needs an AsyncShield, not a {type(shield).__name__}.")
    return _Guard(ConversationCache(shield)).agent(agent)


class _Guard:
    """One shield around an agent and the agents that it may hand over to."""

    def __init__(self, conversations: ConversationCache) -> None:
        self._conversations = conversations
        self._agents: dict[int, tuple[AnyAgent, AnyAgent]] = {}
        """Agents with their guarded copies, by the id of the agent."""

    def agent(self, agent: AnyAgent) -> AnyAgent:
        """The guarded copy of an agent. Agents may hand over to each other in circles."""
        if isinstance(agent, _Guarded):
            return agent
        if id(agent) in self._agents:
            return self._agents[id(agent)][1]
        values = {each.name: getattr(agent, each.name) for each in fields(agent) if each.init}
        receiver = sdk.InputGuardrail[Any](self._receive, name=NAME, run_in_parallel=False)
        values["hooks"] = _Hooks(self, agent.hooks)
        values["input_guardrails"] = [receiver, *agent.input_guardrails]
        values["handoffs"] = []
        # A class for each agent, so that `clone`, which the SDK calls as well, keeps the guard.
        kind = type(
            f"Guarded{type(agent).__name__}", (_Guarded, type(agent)), {"_taskshield": self}
        )
        guarded: AnyAgent = kind(**values)
        self._agents[id(agent)] = agent, guarded
        guarded.handoffs = [self._handoff(item, guarded) for item in agent.handoffs]
        _check_parts(guarded, agent.tools)
        return guarded

    def target(self, agent: AnyAgent) -> AnyAgent:
        """The guarded copy of a handoff's target; the target may be new."""
        known = id(agent) in self._agents
        return self.agent(agent) if known else _Guard(self._conversations).agent(agent)

    def run(self, context: Context) -> GuardedRun:
        """The run that this context belongs to."""
        if _RUN not in vars(context):
            vars(context)[_RUN] = GuardedRun(self._conversations, context)
        run: GuardedRun = vars(context)[_RUN]
        run.context = context
        return run

    def _receive(
        self, context: Context, agent: AnyAgent, given: str | Items
    ) -> sdk.GuardrailFunctionOutput:
        """Keep the user's input, which the SDK shows when a run starts or resumes."""
        self.run(context).user_input = sdk.ItemHelpers.input_to_new_input_list(given)
        return sdk.GuardrailFunctionOutput(output_info=None, tripwire_triggered=False)

    def _handoff(self, item: AnyAgent | Handoff[Any, Any], source: AnyAgent) -> Handoff[Any, Any]:
        original = item if isinstance(item, Handoff) else sdk.handoff(item)
        gate = _HandoffGate(self, original, source)
        copied = copy.copy(original)
        copied.on_invoke_handoff = gate
        copied.get_transfer_message = gate.message  # type: ignore[method-assign]
        copied.input_filter = None if original.input_filter is None else gate.filtered
        target = target_of(original)
        if target is not None:
            set_target(copied, self.agent(target))
        return copied


class _Guarded(Agent[Any]):
    """Added to the class of every guarded agent."""

    _taskshield: ClassVar[_Guard]

    async def get_all_tools(self, run_context: Context) -> list[sdk.Tool]:
        """The agent's tools for one turn of a run, with the run's guardrails."""
        tools = await super().get_all_tools(run_context)
        _check_parts(self, tools)
        specs = _specs([*tools, *self.handoffs])
        return self._taskshield.run(run_context).equip(tools, specs)


def _check_parts(agent: AnyAgent, tools: Iterable[sdk.Tool]) -> None:
    """End the run if the agent was changed so that a part of it is no longer guarded."""
    if not isinstance(agent.hooks, _Hooks):
        raise ConfigError(
            f"The hooks of agent {agent.name!r} were changed after guard(). Set them before."
        )
    for item in agent.handoffs:
        if not isinstance(item, Handoff) or not isinstance(item.on_invoke_handoff, _HandoffGate):
            raise ConfigError(
                f"The handoffs of agent {agent.name!r} were changed after guard(). Set them before."
            )
    for tool in tools:
        if not isinstance(tool, FunctionTool) or not is_agent_tool(tool):
            continue
        if not isinstance(agent_of(tool), _Guarded):
            raise ConfigError(
                f"The agent of the tool {tool.name!r} is not guarded. Make the tool with"
                " guard(agent, shield).as_tool(...)."
            )


class _Hooks(sdk.AgentHooks[Any]):
    """The hooks around the model, followed by the agent's own hooks."""

    def __init__(self, guard: _Guard, own: sdk.AgentHooks[Any] | None) -> None:
        self._guard = guard
        self._own: sdk.AgentHooks[Any] = sdk.AgentHooks() if own is None else own
        for name in ("on_start", "on_end", "on_handoff", "on_tool_start", "on_tool_end"):
            setattr(self, name, getattr(self._own, name))

    async def on_llm_start(
        self, context: Context, agent: AnyAgent, system_prompt: str | None, input_items: Items
    ) -> None:
        """Add what the model is about to read to the session."""
        await self._guard.run(context).before_model(agent, system_prompt, input_items)
        await self._own.on_llm_start(context, agent, system_prompt, input_items)

    async def on_llm_end(
        self, context: Context, agent: AnyAgent, response: sdk.ModelResponse
    ) -> None:
        """Check the model's words and calls together."""
        await self._guard.run(context).after_model(response)
        await self._own.on_llm_end(context, agent, response)


class _HandoffGate:
    """A handoff. If it is blocked, the agent that tried it continues."""

    def __init__(self, guard: _Guard, handoff: Handoff[Any, Any], source: AnyAgent) -> None:
        self._guard = guard
        self._handoff = handoff
        self._source = source

    async def __call__(self, context: Context, arguments: str) -> AnyAgent:
        """Hand over, if the handoff serves the user."""
        run = self._guard.run(context)
        feedback = await run.check_handoff(self._handoff.tool_name, arguments)
        _HANDOFF_FEEDBACK.set(feedback)
        if feedback is not None:
            return self._source
        with run.as_caller():
            target = await self._handoff.on_invoke_handoff(context, arguments)
        return self._guard.target(target)

    def message(self, agent: sdk.AgentBase[Any]) -> str:
        """The result for the model: that the agent handed over, or the feedback."""
        feedback = _HANDOFF_FEEDBACK.get()
        return self._handoff.get_transfer_message(agent) if feedback is None else feedback

    async def filtered(self, data: sdk.HandoffInputData) -> sdk.HandoffInputData:
        """The input of the next agent; after a blocked handoff, it is not filtered."""
        own = self._handoff.input_filter
        if own is None or _HANDOFF_FEEDBACK.get() is not None:
            return data
        filtered = own(data)
        return await filtered if inspect.isawaitable(filtered) else filtered


def _specs(tools: Iterable[object]) -> tuple[ToolSpec, ...]:
    """Tools as the shield declares them; for the model, a handoff is a tool as well."""
    return tool_specs.read(
        Field(value=_described(tool), key="tool")
        for tool in tools
        if isinstance(tool, FunctionTool | Handoff)
    )


def _described(tool: FunctionTool | Handoff[Any, Any]) -> dict[str, object]:
    if isinstance(tool, Handoff):
        return {
            "name": tool.tool_name,
            "description": tool.tool_description,
            "parameters": tool.input_json_schema,
        }
    hints = tool.mcp_annotations
    return {
        "name": tool.qualified_name,
        "description": tool.description,
        "parameters": tool.params_json_schema,
        "annotations": None if hints is None else hints.model_dump(by_alias=True),
    }
