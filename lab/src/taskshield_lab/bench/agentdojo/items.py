"""The items of a benchmark: a user task, and for attacked runs a goal and an attack."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from taskshield.core.errors import ConfigError
from taskshield_lab.bench.agentdojo import attack_placement, suites
from taskshield_lab.bench.records import run_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One task of the user, with or without an attack."""

    suite: str
    user_task: str
    injection_task: str | None = None
    """None for a clean run."""
    attack: str | None = None
    """None for a clean run."""

    def id(self, agent: str) -> str:
        """The id that the run of this item will have."""
        return run_id(agent, self.suite, self.user_task, self.attack, self.injection_task)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which items are run. Empty suites or tasks mean all of them."""

    version: str = "v1"
    suites: tuple[str, ...] = ()
    attacks: tuple[str, ...] = ("important_instructions",)
    user_tasks: tuple[str, ...] = ()
    injection_tasks: tuple[str, ...] = ()
    clean: bool = True
    """Whether the tasks are also run without an attack."""


def items(selection: Selection) -> list[Item]:
    """All items of a selection, clean ones first.

    Raises:
        ConfigError: The selection names what does not exist, or nothing is left of it.
    """
    attacks = _attacks(selection.attacks)
    names = _named("suite", selection.suites, suites.suites(selection.version))
    chosen = {name: suites.suite_named(selection.version, name) for name in names}
    users = {name: _chosen(chosen[name].user_tasks, selection.user_tasks) for name in names}
    goals = {
        name: _chosen(chosen[name].injection_tasks, selection.injection_tasks) for name in names
    }
    _check_used("user task", selection.user_tasks, users.values())
    _check_used("injection task", selection.injection_tasks, goals.values())
    clean = [
        Item(suite=name, user_task=task)
        for name in names
        for task in users[name]
        if selection.clean
    ]
    attacked = [
        Item(suite=name, user_task=task, injection_task=goal, attack=attack)
        for attack in attacks
        for name in names
        for task in users[name]
        for goal in (goals[name][:1] if attack_placement.once_per_task(attack) else goals[name])
    ]
    if not clean and not attacked:
        raise ConfigError(
            "There is nothing to run: no attack is chosen, and clean runs are excluded."
        )
    return clean + attacked


def _attacks(names: Sequence[str]) -> list[str]:
    return _named("attack", names, attack_placement.attack_names(), default=())


def _chosen(there: Iterable[str], wanted: Sequence[str]) -> list[str]:
    return [task for task in there if not wanted or task in wanted]


def _named(
    kind: str, names: Sequence[str], there: Iterable[str], default: Sequence[str] | None = None
) -> list[str]:
    known = list(there)
    for name in names:
        if name not in known:
            raise ConfigError(
                f"The {kind} {name!r} does not exist. Choose one of: {', '.join(known)}."
            )
    if not names:
        return known if default is None else list(default)
    return list(dict.fromkeys(names))


def _check_used(kind: str, names: Sequence[str], chosen: Iterable[Sequence[str]]) -> None:
    there = {task for tasks in chosen for task in tasks}
    for name in names:
        if name not in there:
            raise ConfigError(f"The {kind} {name!r} does not exist in any of the chosen suites.")
