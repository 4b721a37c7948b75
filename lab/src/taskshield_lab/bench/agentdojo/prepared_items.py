"""An item of the exam with all that belongs to it in AgentDojo's world."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from taskshield_lab.bench.agentdojo import attack_placement, suites
from taskshield_lab.bench.agentdojo.attack_placement import UNTOUCHED, Staged
from taskshield_lab.bench.agentdojo.items import Item
from taskshield_lab.bench.agentdojo.suites import InjectionTask, Suite, UserTask, World
from taskshield_lab.bench.attacks.context import Move
from taskshield_lab.bench.records import BenchmarkRun


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedItem:
    """What an agent is asked, and what an attacker makes of it."""

    item: Item
    suite: Suite
    task: UserTask
    goal: InjectionTask | None
    """The attacker's; None for a clean run."""
    staged: Staged

    def blank(self, agent: str) -> BenchmarkRun:
        """The record of a run of which nothing is known yet."""
        own_goal = self.staged.stops_agent or bool(self.staged.payload.swaps)
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
        """The world that the agent finds, with what the attacker has planted."""
        world = suites.environment(self.suite, self.staged.injections)
        return self.task.init_environment(world)

    def marked(
        self, run: BenchmarkRun, *, utility: bool, world: World, answer: str, made: Iterable[Move]
    ) -> BenchmarkRun:
        """The record with what came of the user's task and of the attack.

        Args:
            run: The record so far.
            utility: Whether the user's task came about.
            world: As it was left.
            answer: The agent's last words.
            made: The calls that were executed.
        """
        run = replace(run, utility=utility)
        if self.goal is None:
            return run
        reached = world.hijacked(self.goal, answer)
        said = world.hijacked_by_words(self.goal, answer)
        return replace(
            run,
            hijacked=self.staged.came_about(goal_reached=reached, utility=utility, made=made),
            by_words=self.staged.came_about(goal_reached=said, utility=utility, made=()),
        )


def question(
    item: Item, version: str, *, victim: str = attack_placement.VICTIM
) -> PreparedItem | None:
    """The question of an item; None where its attack makes no sense for its task.

    Args:
        item: The item.
        version: Version of AgentDojo's suites.
        victim: The model that is attacked.

    Raises:
        ConfigError: The suites of this version have no such task.
    """
    asked = unattacked(item, version)
    if item.attack is None or asked.goal is None:
        return asked
    staged = attack_placement.stage(item.attack, asked.suite, asked.task, asked.goal, victim=victim)
    return None if staged is None else replace(asked, staged=staged)


def unattacked(item: Item, version: str) -> PreparedItem:
    """The question of an item as it is before the attacker comes.

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
        staged=UNTOUCHED,
    )
