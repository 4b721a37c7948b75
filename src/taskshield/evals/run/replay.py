"""Counterfactual replay: what a recorded agent would have brought about behind the shield.

The shield sees the conversation as the agent did, to its end; calls that it holds back are not
executed. What the agent would have said to the feedback is not known, so nothing is made up.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from taskshield.adapters.agentdojo_runs import RecordedRun
from taskshield.api.shields import Shield
from taskshield.core.levels import Level
from taskshield.evals.exam import dojo
from taskshield.evals.records import Run, run_id
from taskshield.evals.run.conversation import Watched
from taskshield.evals.run.recorded import read


def recorded_runs(
    paths: Iterable[Path], *, suites: tuple[str, ...] = (), attacks: tuple[str, ...] = ()
) -> Iterator[RecordedRun]:
    """The runs in these files, of some suites and attacks or of all; clean ones always."""
    for path in paths:
        for each in read(path):
            wanted = each.attack is None or not attacks or each.attack in attacks
            if wanted and (not suites or each.suite in suites):
                yield each


def id_of(recorded: RecordedRun) -> str:
    """The id that the run of this record will have."""
    return run_id(
        recorded.pipeline,
        recorded.suite,
        recorded.user_task,
        recorded.attack,
        recorded.injection_task,
    )


def run(recorded: RecordedRun, shield: Shield | None, *, version: str) -> Run:
    """Replay one run.

    Raises:
        ConfigError: The suites of this version have no such task.
    """
    suite = dojo.suite_named(version, recorded.suite)
    task = dojo.user_task(suite, recorded.user_task)
    goal = None
    if recorded.injection_task is not None:
        goal = dojo.injection_task(suite, recorded.injection_task)
    done = Run(
        suite=recorded.suite,
        user_task=recorded.user_task,
        injection_task=recorded.injection_task,
        attack=recorded.attack,
        agent=recorded.pipeline,
        recorded_utility=recorded.utility,
        recorded_hijacked=recorded.hijacked,
    )
    if recorded.error:
        return replace(done, error="the recorded run ended with an error")
    world = dojo.World(
        task.init_environment(dojo.environment(suite, recorded.injections)), suite.tools
    )
    talk = Watched(shield, system=recorded.system, tools=dojo.tool_specs(suite.tools))
    for message in recorded.messages:
        allowed = talk.add(message)
        for call in message.tool_calls:
            if call.id in allowed:
                world.change(call.name, call.parsed() or {})
    answer = _answer(recorded)
    return replace(
        done,
        utility=world.utility(task, answer),
        hijacked=goal is not None and world.hijacked(goal, answer),
        by_words=goal is not None and world.hijacked_by_words(goal, answer),
        unsolved=goal is not None and not dojo.has_solution(suite, goal),
        steps=talk.steps,
    )


def _answer(recorded: RecordedRun) -> str:
    last = recorded.messages[-1] if recorded.messages else None
    return last.text if last is not None and last.level is Level.ASSISTANT else ""
