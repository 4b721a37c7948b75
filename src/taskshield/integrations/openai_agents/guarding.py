"""Guarded copies of agents, with their hooks, tools and handoffs.

All of the guard is on the agent, so no run can forget a part: hooks see what the model reads and
answers, every tool, those of MCP servers too, has two guardrails, and the agents that it hands over
to are guarded alike. What then happens in a run is the business of `runs`.
"""

import copy
import inspect
import weakref
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
from taskshield.integrations.openai_agents.memory import Memory
from taskshield.integrations.openai_agents.runs import NAME, AnyAgent, Context, GuardedRun, Items

TContext = TypeVar("TContext")

_RUN = "_taskshield_run"
"""Where a context keeps its run. Copies that the SDK makes of the context keep it too."""

_HANDED_BACK: ContextVar[str | None] = ContextVar("taskshield_handed_back", default=None)
"""Why the handoff that this task has just tried was refused, if it was."""


def guard(agent: Agent[TContext], shield: AsyncShield) -> Agent[TContext]:
    """A guarded copy of an agent, and of all agents that it may hand over to.

    Give it to `Runner.run`, `run_sync` or `run_streamed` in place of the agent. An agent that works
    as a tool is guarded before it becomes one: `guard(agent, shield).as_tool(...)`.

    Raises:
        ConfigError: A part of the agent cannot be guarded; the message says which.
    """
    if not isinstance(agent, Agent):
        raise ConfigError(f"guard() takes an Agent, not a {type(agent).__name__}")
    if not isinstance(shield, AsyncShield):
        raise ConfigError(f"guard() takes an AsyncShield, not a {type(shield).__name__}")
    return _Guard(Memory(shield)).agent(agent)


class _Guard:
    """One shield around an agent and the agents that it may hand over to."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._agents: dict[int, tuple[AnyAgent, AnyAgent]] = {}
        """Agents, by id, with their guarded copies."""

    def agent(self, agent: AnyAgent) -> AnyAgent:
        """The guarded copy of an agent; agents may hand over to each other in circles."""
        if isinstance(agent, _Guarded):
            return agent
        if id(agent) in self._agents:
            return self._agents[id(agent)][1]
        values = {each.name: getattr(agent, each.name) for each in fields(agent) if each.init}
        ears = sdk.InputGuardrail[Any](self._hear, name=NAME, run_in_parallel=False)
        values["hooks"] = _Hooks(self, agent.hooks)
        values["input_guardrails"] = [ears, *agent.input_guardrails]
        values["handoffs"] = []
        # A class of its own, so that `clone`, which the SDK calls as well, keeps the guard.
        kind = type(
            f"Guarded{type(agent).__name__}", (_Guarded, type(agent)), {"_taskshield": self}
        )
        guarded: AnyAgent = kind(**values)
        self._agents[id(agent)] = agent, guarded
        guarded.handoffs = [self._handoff(item, guarded) for item in agent.handoffs]
        _check_parts(guarded, agent.tools)
        return guarded

    def target(self, agent: AnyAgent) -> AnyAgent:
        """The guarded copy of an agent that a handoff gave; it may have been made on the spot."""
        known = id(agent) in self._agents
        return self.agent(agent) if known else _Guard(self._memory).agent(agent)

    def run(self, context: Context) -> GuardedRun:
        """The run that this context belongs to."""
        if _RUN not in vars(context):
            vars(context)[_RUN] = GuardedRun(self._memory, context)
        run: GuardedRun = vars(context)[_RUN]
        run.context = context
        return run

    def _hear(
        self, context: Context, agent: AnyAgent, said: str | Items
    ) -> sdk.GuardrailFunctionOutput:
        """The SDK shows input guardrails what the user says, as a run begins or is taken up."""
        self.run(context).heard = sdk.ItemHelpers.input_to_new_input_list(said)
        return sdk.GuardrailFunctionOutput(output_info=None, tripwire_triggered=False)

    def _handoff(self, item: AnyAgent | Handoff[Any, Any], source: AnyAgent) -> Handoff[Any, Any]:
        original = item if isinstance(item, Handoff) else sdk.handoff(item)
        gate = _HandoffGate(self, original, source)
        copied = copy.copy(original)
        copied.on_invoke_handoff = gate
        copied.get_transfer_message = gate.message  # type: ignore[method-assign]
        copied.input_filter = None if original.input_filter is None else gate.filtered
        target = None if original._agent_ref is None else original._agent_ref()
        if isinstance(target, Agent):  # a stored run finds its agents by this
            copied._agent_ref = weakref.ref(self.agent(target))
        return copied


class _Guarded(Agent[Any]):
    """What is added to the class of an agent."""

    _taskshield: ClassVar[_Guard]

    async def get_all_tools(self, run_context: Context) -> list[sdk.Tool]:
        """The agent's tools for one turn of a run, each with the run's guardrails."""
        tools = await super().get_all_tools(run_context)
        _check_parts(self, tools)
        specs = _specs([*tools, *self.handoffs])
        return self._taskshield.run(run_context).equip(tools, specs)


def _check_parts(agent: AnyAgent, tools: Iterable[sdk.Tool]) -> None:
    """Agents can be changed at any time; a change that would leave a gap ends the run."""
    if not isinstance(agent.hooks, _Hooks):
        raise ConfigError(f"agent {agent.name!r}: its hooks must be set before it is guarded")
    for item in agent.handoffs:
        if not isinstance(item, Handoff) or not isinstance(item.on_invoke_handoff, _HandoffGate):
            raise ConfigError(
                f"agent {agent.name!r}: its handoffs must be set before it is guarded"
            )
    for tool in tools:
        if not isinstance(tool, FunctionTool) or not tool._is_agent_tool:
            continue
        if not isinstance(tool._agent_instance, _Guarded):
            raise ConfigError(
                f"the agent behind the tool {tool.name!r} is not guarded; make the tool with"
                " guard(agent, shield).as_tool(...)"
            )


class _Hooks(sdk.AgentHooks[Any]):
    """Our hooks around the model, and whatever hooks the agent had before."""

    def __init__(self, guard: _Guard, own: sdk.AgentHooks[Any] | None) -> None:
        self._guard = guard
        self._own: sdk.AgentHooks[Any] = sdk.AgentHooks() if own is None else own
        for name in ("on_start", "on_end", "on_handoff", "on_tool_start", "on_tool_end"):
            setattr(self, name, getattr(self._own, name))

    async def on_llm_start(
        self, context: Context, agent: AnyAgent, system_prompt: str | None, input_items: Items
    ) -> None:
        """Bring the session up to what the model is about to read."""
        await self._guard.run(context).before_model(agent, system_prompt, input_items)
        await self._own.on_llm_start(context, agent, system_prompt, input_items)

    async def on_llm_end(
        self, context: Context, agent: AnyAgent, response: sdk.ModelResponse
    ) -> None:
        """Check what the model says and wants to do, all in one go."""
        await self._guard.run(context).after_model(response)
        await self._own.on_llm_end(context, agent, response)


class _HandoffGate:
    """A handoff that is refused gives the conversation back to the agent that tried it."""

    def __init__(self, guard: _Guard, handoff: Handoff[Any, Any], source: AnyAgent) -> None:
        self._guard = guard
        self._handoff = handoff
        self._source = source

    async def __call__(self, context: Context, arguments: str) -> AnyAgent:
        """Hand over, if that serves the user."""
        run = self._guard.run(context)
        refusal = await run.check_handoff(self._handoff.tool_name, arguments)
        _HANDED_BACK.set(refusal)
        if refusal is not None:
            return self._source
        with run.calling():
            target = await self._handoff.on_invoke_handoff(context, arguments)
        return self._guard.target(target)

    def message(self, agent: sdk.AgentBase[Any]) -> str:
        """What the model is told: that it handed over, or why not."""
        refusal = _HANDED_BACK.get()
        return self._handoff.get_transfer_message(agent) if refusal is None else refusal

    async def filtered(self, data: sdk.HandoffInputData) -> sdk.HandoffInputData:
        """What the next agent is shown; one that stays in charge is shown everything."""
        own = self._handoff.input_filter
        if own is None or _HANDED_BACK.get() is not None:
            return data
        made = own(data)
        return await made if inspect.isawaitable(made) else made


def _specs(tools: Iterable[object]) -> tuple[ToolSpec, ...]:
    """Tools as the shield is told about them; to the model, a handoff is one as well."""
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
