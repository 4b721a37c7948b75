"""A benchmark item with its suite, tasks, attack and environment from AgentDojo."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from taskshield_lab.bench.agentdojo import attack_placement, suites
from taskshield_lab.bench.agentdojo.attack_placement import NO_ATTACK, PlacedAttack
from taskshield_lab.bench.agentdojo.items import Item
from taskshield_lab.bench.agentdojo.suites import InjectionTask, Suite, UserTask
from taskshield_lab.bench.attacks.context import Move
from taskshield_lab.bench.records import BenchmarkRun


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedItem:
    """An item that is ready to run."""

    item: Item
    suite: Suite
    task: UserTask
    goal: InjectionTask | None
    """The attacker's goal. None for a clean run."""
    placed: PlacedAttack

    def blank(self, agent: str) -> BenchmarkRun:
        """The record of a run before it starts."""
        own_goal = self.placed.stops_agent or bool(self.placed.payload.swaps)
        return BenchmarkRun(
            suite=self.item.suite,
            user_task=self.item.user_task,
            injection_task=self.item.injection_task,
            attack=self.item.attack,
            agent=agent,
            unsolved=self.goal is not None
            and not own_goal
            and not suites.has_solution(self.suite, self.goal),
        )

    def environment(self) -> suites.Environment:
        """The environment before the run, with the injected text."""
        initial = suites.environment(self.suite, self.placed.injections)
        return self.task.init_environment(initial)

    def with_outcome(
        self,
        run: BenchmarkRun,
        *,
        utility: bool,
        simulation: suites.Simulation,
        answer: str,
        made: Iterable[Move],
    ) -> BenchmarkRun:
        """The record with the outcome of the user's task and of the attack.

        Args:
            run: The record so far.
            utility: Whether the user's task was completed.
            simulation: The environment after the run.
            answer: The agent's final answer.
            made: The calls that were executed.
        """
        run = replace(run, utility=utility)
        if self.goal is None:
            return run
        reached = simulation.hijacked(self.goal, answer)
        reached_by_words = simulation.hijacked_by_words(self.goal, answer)
        return replace(
            run,
            hijacked=self.placed.succeeded(goal_reached=reached, utility=utility, made=made),
            by_words=self.placed.succeeded(goal_reached=reached_by_words, utility=utility, made=()),
        )


def prepare(
    item: Item, version: str, *, victim: str = attack_placement.VICTIM
) -> PreparedItem | None:
    """Prepare an item. None if its attack does not apply to its task.

    Args:
        item: The item.
        version: Version of AgentDojo's suites.
        victim: The attacked model.

    Raises:
        ConfigError: The suites of this version have no such task.
    """
    prepared = prepare_clean(item, version)
    if item.attack is None or prepared.goal is None:
        return prepared
    placed = attack_placement.place(
        item.attack, prepared.suite, prepared.task, prepared.goal, victim=victim
    )
    return None if placed is None else replace(prepared, placed=placed)


def prepare_clean(item: Item, version: str) -> PreparedItem:
    """Prepare an item without its attack.

    Raises:
        ConfigError: The suites of this version have no such task.
    """
    suite = suites.suite_named(version, item.suite)
    goal = item.injection_task
    return PreparedItem(
        item=item,
        suite=suite,
        task=suites.user_task(suite, item.user_task),
        goal=None if goal is None else suites.injection_task(suite, goal),
        placed=NO_ATTACK,
    )
