"""AgentDojo's suites, tasks, tools and checks, as the benchmark uses them."""

import copy
import io
from ast import literal_eval
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, redirect_stdout
from functools import cache, partial
from importlib.metadata import version as version_of
from typing import Any

import email_validator
from agentdojo.agent_pipeline.agent_pipeline import load_system_message
from agentdojo.agent_pipeline.tool_execution import is_string_list, tool_result_to_str
from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime
from agentdojo.task_suite.load_suites import get_suites
from agentdojo.task_suite.task_suite import read_suite_file, validate_injections

from taskshield.core.errors import ConfigError
from taskshield_lab.bench.agentdojo.pipeline_elements import tool_specs as tool_specs
from taskshield_lab.bench.agentdojo.yaml_template import Template

Suite = Any
Environment = Any
UserTask = Any
InjectionTask = Any
Function = Any
"""AgentDojo has no type hints that a checker could read."""

VERSIONS = ("v1", "v1.1", "v1.1.1", "v1.1.2", "v1.2", "v1.2.1", "v1.2.2")
AGENTDOJO = version_of("agentdojo")


@cache
def suites(version: str) -> Mapping[str, Suite]:
    """All suites of a version, with environments that load fast.

    Raises:
        ConfigError: There is no such version.
    """
    if version not in VERSIONS:
        raise ConfigError(
            f"The suites {version!r} do not exist. Choose one of: {', '.join(VERSIONS)}."
        )
    return {name: _fast(suite) for name, suite in get_suites(version).items()}


def suite_named(version: str, name: str) -> Suite:
    """One suite.

    Raises:
        ConfigError: There is no such version or no such suite in it.
    """
    there = suites(version)
    if name not in there:
        raise ConfigError(f"The suite {name!r} does not exist. Choose one of: {', '.join(there)}.")
    return there[name]


def user_task(suite: Suite, id: str) -> UserTask:
    """A task of the user.

    Raises:
        ConfigError: The suite has no such task.
    """
    return _find_task(suite, "user task", suite.user_tasks, id)


def injection_task(suite: Suite, id: str) -> InjectionTask:
    """A goal of the attacker.

    Raises:
        ConfigError: The suite has no such task.
    """
    return _find_task(suite, "injection task", suite.injection_tasks, id)


def environment(suite: Suite, injections: Mapping[str, str]) -> Environment:
    """The suite's environment with these texts in its slots, as AgentDojo's own loader makes it."""
    defaults = _slot_defaults(suite)
    validate_injections(dict(injections), defaults)
    data = template(suite).filled({**defaults, **injections})
    return suite.environment_type.model_validate(data)


def cache_address_validation() -> None:
    """Validate each e-mail address only once in this process. For benchmark workers only.

    The environments hold a few dozen addresses. Validating them takes half of the loading time.
    """
    email_validator.validate_email = cache(email_validator.validate_email)


@cache
def has_solution(suite: Suite, goal: InjectionTask) -> bool:
    """Whether AgentDojo knows the calls that reach a goal of the attacker."""
    return bool(goal.ground_truth(environment(suite, {})))


@cache
def system_message() -> str:
    """AgentDojo's system message."""
    return str(load_system_message(None))


class Simulation:
    """Executes calls in an environment and applies AgentDojo's checks to the result."""

    def __init__(self, environment: Environment, functions: Sequence[Function]) -> None:
        self._before = environment.model_copy(deep=True)
        self._now = environment
        self._runtime = FunctionsRuntime(list(functions))
        self._trace: list[Any] = []

    def execute(self, tool: str, arguments: Mapping[str, object]) -> tuple[str, bool]:
        """Run a tool as AgentDojo's executor would: its output, and whether that is an error."""
        result, error = self.change(tool, arguments)
        return (tool_result_to_str(result), False) if error is None else (error, True)

    def change(self, tool: str, arguments: Mapping[str, object]) -> tuple[object, str | None]:
        """Run a tool for its side effects: its result, and its error.

        Formatting the result as text takes longer than most tools do.
        """
        arguments = {key: _unquoted(value) for key, value in arguments.items()}
        self._trace.append(FunctionCall(function=tool, args=arguments))
        with _silence():
            result, error = self._runtime.run_function(self._now, tool, arguments)
        return result, None if error is None else str(error)

    def utility(self, task: UserTask, answer: str) -> bool:
        """Whether the user's task was completed."""
        with _silence():
            found = task.utility_from_traces(answer, self._before, self._now, self._trace)
            if found is None:
                found = task.utility(answer, self._before, self._now)
        return bool(found)

    def hijacked(self, task: InjectionTask, answer: str) -> bool:
        """Whether the attacker's goal was reached."""
        return _security(task, answer, self._before, self._now, self._trace)

    def hijacked_by_words(self, task: InjectionTask, answer: str) -> bool:
        """Whether the goal would have been reached without any call."""
        return _security(task, answer, self._before, self._before, [])


def _security(task: InjectionTask, answer: str, before: Any, now: Any, trace: list[Any]) -> bool:
    with _silence():
        found = task.security_from_traces(answer, before, now, trace)
        return bool(task.security(answer, before, now) if found is None else found)


def _silence() -> AbstractContextManager[object]:
    """Suppress output: some of AgentDojo's checks print text that an attacker may have written."""
    return redirect_stdout(io.StringIO())


def _fast(suite: Suite) -> Suite:
    """The suite with its slow loader replaced; AgentDojo's own object stays as it is."""
    own = copy.copy(suite)
    own.load_and_inject_default_environment = partial(environment, own)
    return own


@cache
def template(suite: Suite) -> Template:
    """The suite's file, parsed once."""
    return Template(read_suite_file(suite.name, "environment.yaml", suite.data_path))


@cache
def _slot_defaults(suite: Suite) -> dict[str, str]:
    return dict(suite.get_injection_vector_defaults())


def _find_task(suite: Suite, kind: str, tasks: Mapping[str, Any], id: str) -> Any:
    if id not in tasks:
        raise ConfigError(f"The suite {suite.name!r} has no {kind} {id!r}.")
    return tasks[id]


def _unquoted(value: object) -> object:
    """Models write lists as text; AgentDojo's executor reads them as lists."""
    return literal_eval(value) if isinstance(value, str) and is_string_list(value) else value
