"""One item of the exam, sat by a live agent in AgentDojo's world.

Which items there are, who works on them and what is kept belongs elsewhere.
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
from taskshield_lab.bench.agentdojo.prepared_items import PreparedItem, question
from taskshield_lab.bench.attacks.context import Move
from taskshield_lab.bench.records import BenchmarkRun, RecordedStep
from taskshield_lab.bench.run import step_records as steps
from taskshield_lab.bench.run.failures import attempted
from taskshield_lab.bench.run.pipelines import Agent, Pipeline, build_pipeline


def sit(item: Item, shield: Shield | None, *, version: str, agent: Agent) -> BenchmarkRun | None:
    """Let an agent work on one item; its pipeline is built once and kept."""
    return run(item, _pipeline(agent, shield), version=version, agent=agent.model)


_pipeline = lru_cache(maxsize=1)(build_pipeline)


def run(item: Item, pipeline: Pipeline, *, version: str, agent: str) -> BenchmarkRun | None:
    """Let the agent work on one item, in one conversation.

    Args:
        item: The question.
        pipeline: The agent, guarded or not. Several threads may share it.
        version: Version of AgentDojo's suites.
        agent: Its name in the records.

    Returns:
        The run, with `error` set where it means nothing. None where the attack makes no sense here.

    Raises:
        ConfigError: No run of this agent could ever succeed, e.g. because its key is wrong.
    """
    asked = question(item, version, victim=agent)
    if asked is None:
        return None
    blank = asked.blank(agent)
    sitting = _Sitting(asked)

    def work() -> BenchmarkRun:
        answer = sitting.talk(pipeline, asked.task.PROMPT)
        world, made = sitting.world, sitting.tools.made
        utility = world.utility(asked.task, answer)
        return asked.marked(blank, utility=utility, world=world, answer=answer, made=made)

    return replace(attempted(blank, work, who="agent"), steps=sitting.steps)


class _Sitting:
    """A world made for one conversation, and what came of it."""

    def __init__(self, asked: PreparedItem) -> None:
        functions = asked.staged.functions(asked.suite)
        self._environment = asked.environment()
        self._messages: Sequence[Mapping[str, Any]] = ()
        self._decisions: list[Decision] = []
        self.world = suites.World(self._environment, functions)
        self.tools = _Tools(functions, self.world)

    def talk(self, pipeline: Pipeline, prompt: str) -> str:
        """Have the conversation; the agent's last words."""
        # One of AgentDojo's defences says the user's words again, and AgentDojo warns of that.
        warnings.filterwarnings("ignore", "The query is not being added", UserWarning)
        extra = {DECISIONS: self._decisions}
        try:
            passed = pipeline.query(prompt, self.tools, self._environment, [], extra)
            self._messages = passed[3]
        except AbortAgentError as stopped:
            self._messages = stopped.messages
        last = self._messages[-1]
        return get_text_content_as_str(last["content"] or []) if _is_agents(last) else ""

    @property
    def steps(self) -> tuple[RecordedStep, ...]:
        """What was said and done, as far as it is known; after an error only a shield knows."""
        if self._decisions:
            found = [steps.judged(decision) for decision in self._decisions]
        else:
            told = [each for each in self._messages if each["role"] != "system"]
            found = [steps.unguarded(_message(each)) for each in told]
        return _as_executed(found, self.tools.made)


class _Tools(FunctionsRuntime):
    """The tools as AgentDojo's executor finds them; what it runs is run in the world."""

    def __init__(self, functions: Sequence[suites.Function], world: suites.World) -> None:
        super().__init__(functions)
        self._world = world
        self.made: list[Move] = []
        """The calls that were executed."""

    def run_function(
        self, env: Any, function: str, kwargs: Mapping[str, Any], raise_on_error: bool = False
    ) -> tuple[str, str | None]:
        """Execute a call: the output, or an error."""
        self.made.append(Move(tool=function, arguments=dict(kwargs)))
        output, is_error = self._world.execute(function, kwargs)
        return ("", output) if is_error else (output, None)


def _is_agents(message: Mapping[str, Any]) -> bool:
    return bool(message["role"] == "assistant")


def _message(message: Mapping[str, Any]) -> Message:
    """A message of AgentDojo as one of ours."""
    error = message.get("error")
    text = get_text_content_as_str(message["content"] or []) if error is None else error
    calls = (message["tool_calls"] or []) if _is_agents(message) else []
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
    """The steps with those calls marked as executed that were.

    A call may be allowed and still not be made: there may be no such tool, or the conversation may
    end before. Calls are made in the order in which they stand.
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
