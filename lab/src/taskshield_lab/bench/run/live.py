"""Runs one benchmark item with a live agent.

Items, agents and files of records are defined elsewhere.
"""

import warnings
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from agentdojo.agent_pipeline import AbortAgentError
from agentdojo.functions_runtime import FunctionsRuntime
from agentdojo.types import get_text_content_as_str

from taskshield.api.shields import Shield
from taskshield.core.decisions import Decision
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall, text_message
from taskshield.engine.tool_functions import as_json
from taskshield_lab.bench.agentdojo import suites
from taskshield_lab.bench.agentdojo.items import Item
from taskshield_lab.bench.agentdojo.pipeline_elements import DECISIONS
from taskshield_lab.bench.agentdojo.prepared_items import PreparedItem, prepare
from taskshield_lab.bench.attacks.context import Move
from taskshield_lab.bench.records import BenchmarkRun, RecordedStep
from taskshield_lab.bench.run.failures import attempt
from taskshield_lab.bench.run.pipelines import Agent, Pipeline, build_pipeline
from taskshield_lab.bench.run.step_records import checked_step, unchecked_step


def run_with_agent(
    item: Item, shield: Shield | None, *, version: str, agent: Agent
) -> BenchmarkRun | None:
    """Run one item with an agent. The pipeline of the last agent is cached."""
    return run(item, _pipeline(agent, shield), version=version, agent=agent.model)


_pipeline = lru_cache(maxsize=1)(build_pipeline)


def run(item: Item, pipeline: Pipeline, *, version: str, agent: str) -> BenchmarkRun | None:
    """Run one item with a pipeline, in one conversation.

    Args:
        item: The item.
        pipeline: The agent, guarded or not. Several threads may share it.
        version: Version of AgentDojo's suites.
        agent: The agent's name in the records.

    Returns:
        The run, with `error` set if it failed. None if the attack does not apply to the task.

    Raises:
        ConfigError: Every run of this agent would fail, e.g. because its key is wrong.
    """
    prepared = prepare(item, version, victim=agent)
    if prepared is None:
        return None
    blank = prepared.blank(agent)
    conversation = _LiveConversation(prepared)

    def work() -> BenchmarkRun:
        answer = conversation.run(pipeline, prepared.task.PROMPT)
        simulation, made = conversation.simulation, conversation.tools.made
        utility = simulation.utility(prepared.task, answer)
        return prepared.with_outcome(
            blank, utility=utility, simulation=simulation, answer=answer, made=made
        )

    return replace(attempt(blank, work, who="agent"), steps=conversation.steps)


class _LiveConversation:
    """One conversation in an environment of its own, with its messages and decisions."""

    def __init__(self, prepared: PreparedItem) -> None:
        functions = prepared.placed.functions(prepared.suite)
        self._environment = prepared.environment()
        self._messages: Sequence[Mapping[str, Any]] = ()
        self._decisions: list[Decision] = []
        self.simulation = suites.Simulation(self._environment, functions)
        self.tools = _Tools(functions, self.simulation)

    def run(self, pipeline: Pipeline, prompt: str) -> str:
        """Run the pipeline. The agent's final answer."""
        # One of AgentDojo's defences repeats the user's message, and AgentDojo warns of that.
        warnings.filterwarnings("ignore", "The query is not being added", UserWarning)
        extra = {DECISIONS: self._decisions}
        try:
            passed = pipeline.query(prompt, self.tools, self._environment, [], extra)
            self._messages = passed[3]
        except AbortAgentError as stopped:
            self._messages = stopped.messages
        last = self._messages[-1]
        return get_text_content_as_str(last["content"] or []) if _is_assistant(last) else ""

    @property
    def steps(self) -> tuple[RecordedStep, ...]:
        """The steps so far. After an error only those that a shield checked are known."""
        if self._decisions:
            found = [checked_step(decision) for decision in self._decisions]
        else:
            messages = [each for each in self._messages if each["role"] != "system"]
            found = [unchecked_step(_message(each)) for each in messages]
        return _as_executed(found, self.tools.made)


class _Tools(FunctionsRuntime):
    """AgentDojo's tool runtime, with calls executed in the simulation."""

    def __init__(self, functions: Sequence[suites.Function], simulation: suites.Simulation) -> None:
        super().__init__(functions)
        self._simulation = simulation
        self.made: list[Move] = []
        """The calls that were executed."""

    def run_function(
        self, env: Any, function: str, kwargs: Mapping[str, Any], raise_on_error: bool = False
    ) -> tuple[str, str | None]:
        """Execute a call. The output, or an error."""
        self.made.append(Move(tool=function, arguments=dict(kwargs)))
        output, is_error = self._simulation.execute(function, kwargs)
        return ("", output) if is_error else (output, None)


def _is_assistant(message: Mapping[str, Any]) -> bool:
    return bool(message["role"] == "assistant")


def _message(message: Mapping[str, Any]) -> Message:
    """A message of AgentDojo as our `Message`."""
    error = message.get("error")
    text = get_text_content_as_str(message["content"] or []) if error is None else error
    calls = (message["tool_calls"] or []) if _is_assistant(message) else []
    return replace(
        text_message(Level(message["role"]), text),
        tool_calls=tuple(
            ToolCall(
                id=call.id or "",
                name=call.function,
                arguments=as_json(dict(call.args)),
            )
            for call in calls
        ),
        answers=message.get("tool_call_id"),
        is_error=error is not None,
    )


def _as_executed(found: Sequence[RecordedStep], made: Sequence[Move]) -> tuple[RecordedStep, ...]:
    """The steps, with calls that did not run marked as not executed.

    An allowed call may not run: the tool may not exist, or the conversation may end first. Calls
    run in order.
    """
    left = deque(move.tool for move in made)

    def was_made(name: str) -> bool:
        if not left or left[0] != name:
            return False
        left.popleft()
        return True

    return tuple(
        replace(
            step,
            calls=tuple(
                replace(call, executed=call.executed and was_made(call.name)) for call in step.calls
            ),
        )
        for step in found
    )
