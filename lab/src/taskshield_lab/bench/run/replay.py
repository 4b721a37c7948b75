"""Counterfactual replay: the effects that a recorded agent would have had behind the shield.

The shield checks the whole recorded conversation. Calls that it blocks are not executed. How the
agent would have reacted to feedback is unknown, so nothing is invented.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from taskshield.adapters.traces.agentdojo_runs import RecordedRun
from taskshield.api.shields import Shield
from taskshield.core.errors import ConfigError
from taskshield.core.levels import Level
from taskshield_lab.bench.agentdojo import attack_placement, suites
from taskshield_lab.bench.agentdojo.attack_placement import PlacedAttack
from taskshield_lab.bench.agentdojo.items import Item
from taskshield_lab.bench.agentdojo.prepared_items import PreparedItem, prepare_clean
from taskshield_lab.bench.attacks.context import Payload
from taskshield_lab.bench.records import BenchmarkRun
from taskshield_lab.bench.run.failures import attempt
from taskshield_lab.bench.run.guarded_conversation import GuardedConversation
from taskshield_lab.bench.run.recorded_runs import read


def recorded_runs(
    paths: Iterable[Path], *, in_suites: tuple[str, ...] = (), attacks: tuple[str, ...] = ()
) -> Iterator[RecordedRun]:
    """The runs in these files, of the given suites and attacks. Clean runs are always included."""
    for path in paths:
        for each in read(path):
            wanted = each.attack is None or not attacks or each.attack in attacks
            if wanted and (not in_suites or each.suite in in_suites):
                yield each


def id_of(recorded: RecordedRun) -> str:
    """The id of the run that replays this record."""
    return _item(recorded).id(recorded.pipeline)


def prepare(recorded: RecordedRun, version: str) -> PreparedItem:
    """Prepare the item of a recorded run.

    Raises:
        ConfigError: This version has no such task, or the record is of another version.
    """
    prepared = prepare_clean(_item(recorded), version)
    if recorded.version not in (None, version):
        raise ConfigError(
            f"{recorded.pipeline} was recorded on suites {recorded.version}, not {version}."
        )
    placed = PlacedAttack(
        payload=Payload(),
        injections=recorded.injections,
        stops_agent=recorded.attack is not None and attack_placement.stops_agent(recorded.attack),
    )
    return replace(prepared, placed=placed)


def is_attackers_own(recorded: RecordedRun) -> bool:
    """Whether the attacker's goal is the user's task: AgentDojo's test of a model's ability."""
    return recorded.user_task.startswith("injection_task")


def is_reworded(recorded: RecordedRun, prepared: PreparedItem) -> bool:
    """Whether the user's request differs from the one in this version."""
    words = [each.text for each in recorded.messages if each.level is Level.USER]
    return bool(words) and words[0].strip() != prepared.task.PROMPT.strip()


def run(recorded: RecordedRun, shield: Shield | None, *, version: str) -> BenchmarkRun:
    """Replay one run.

    Raises:
        ConfigError: As for `prepare`.
    """
    prepared = prepare(recorded, version)
    blank = replace(
        prepared.blank(recorded.pipeline),
        recorded_utility=recorded.utility,
        recorded_hijacked=recorded.hijacked,
    )
    if recorded.error:
        return replace(blank, error="The recorded run ended with an error.")
    return attempt(blank, lambda: _replayed(recorded, prepared, blank, shield))


def _replayed(
    recorded: RecordedRun, prepared: PreparedItem, blank: BenchmarkRun, shield: Shield | None
) -> BenchmarkRun:
    simulation = suites.Simulation(prepared.environment(), prepared.suite.tools)
    conversation = GuardedConversation(
        shield, system=recorded.system, tools=suites.tool_specs(prepared.suite.tools)
    )
    for message in recorded.messages:
        allowed = conversation.add(message)
        for call in message.tool_calls:
            if call.id in allowed:
                simulation.change(call.name, call.parse_arguments() or {})
    answer = _answer(recorded)
    utility = simulation.utility(prepared.task, answer)
    done = prepared.with_outcome(
        blank, utility=utility, simulation=simulation, answer=answer, made=()
    )
    return replace(done, steps=conversation.steps)


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
