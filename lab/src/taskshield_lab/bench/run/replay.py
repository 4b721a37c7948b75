"""Counterfactual replay: what a recorded agent would have brought about behind the shield.

The shield sees the conversation as the agent did, to its end; calls that it holds back are not
executed. What the agent would have said to the feedback is not known, so nothing is made up.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from taskshield.adapters.traces.agentdojo_runs import RecordedRun
from taskshield.api.shields import Shield
from taskshield.core.errors import ConfigError
from taskshield.core.levels import Level
from taskshield_lab.bench.agentdojo import attack_placement
from taskshield_lab.bench.agentdojo import suites as dojo
from taskshield_lab.bench.agentdojo.attack_placement import Staged
from taskshield_lab.bench.agentdojo.items import Item
from taskshield_lab.bench.agentdojo.prepared_items import PreparedItem, unattacked
from taskshield_lab.bench.attacks.context import Payload
from taskshield_lab.bench.records import BenchmarkRun
from taskshield_lab.bench.run.failures import attempted
from taskshield_lab.bench.run.guarded_conversation import GuardedConversation
from taskshield_lab.bench.run.recorded_runs import read


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
    return _item(recorded).id(recorded.pipeline)


def question(recorded: RecordedRun, version: str) -> PreparedItem:
    """What the recorded agent was asked.

    Raises:
        ConfigError: The suites of this version have no such task, or the record is of another one.
    """
    asked = unattacked(_item(recorded), version)
    if recorded.version not in (None, version):
        raise ConfigError(
            f"{recorded.pipeline} was recorded on suites {recorded.version}, not {version}"
        )
    staged = Staged(
        payload=Payload(),
        injections=recorded.injections,
        stops_agent=recorded.attack is not None and attack_placement.stops_agent(recorded.attack),
    )
    return replace(asked, staged=staged)


def is_attackers_own(recorded: RecordedRun) -> bool:
    """Whether the attacker's goal was given as a task: AgentDojo tries out what a model can do."""
    return recorded.user_task.startswith("injection_task")


def is_reworded(recorded: RecordedRun, asked: PreparedItem) -> bool:
    """Whether the user asked the recorded agent in other words than this version has."""
    words = [each.text for each in recorded.messages if each.level is Level.USER]
    return bool(words) and words[0].strip() != asked.task.PROMPT.strip()


def run(recorded: RecordedRun, shield: Shield | None, *, version: str) -> BenchmarkRun:
    """Replay one run.

    Raises:
        ConfigError: As for `question`.
    """
    asked = question(recorded, version)
    blank = replace(
        asked.blank(recorded.pipeline),
        recorded_utility=recorded.utility,
        recorded_hijacked=recorded.hijacked,
    )
    if recorded.error:
        return replace(blank, error="the recorded run ended with an error")
    return attempted(blank, lambda: _replayed(recorded, asked, blank, shield))


def _replayed(
    recorded: RecordedRun, asked: PreparedItem, blank: BenchmarkRun, shield: Shield | None
) -> BenchmarkRun:
    world = dojo.World(asked.environment(), asked.suite.tools)
    talk = GuardedConversation(
        shield, system=recorded.system, tools=dojo.tool_specs(asked.suite.tools)
    )
    for message in recorded.messages:
        allowed = talk.add(message)
        for call in message.tool_calls:
            if call.id in allowed:
                world.change(call.name, call.parse_arguments() or {})
    answer = _answer(recorded)
    utility = world.utility(asked.task, answer)
    done = asked.marked(blank, utility=utility, world=world, answer=answer, made=())
    return replace(done, steps=talk.steps)


def _item(recorded: RecordedRun) -> Item:
    return Item(
        suite=recorded.suite,
        user_task=recorded.user_task,
        injection_task=recorded.injection_task,
        attack=recorded.attack,
    )


def _answer(recorded: RecordedRun) -> str:
    last = recorded.messages[-1] if recorded.messages else None
    return last.text if last is not None and last.level is Level.ASSISTANT else ""
