"""The worst-case agent: does what the user asked, and what an injection asks once it has read one.

It makes the calls that AgentDojo itself gives as solutions, and ignores all feedback.
"""

from collections import deque
from dataclasses import replace

from taskshield.api.shields import Shield
from taskshield.core.messages import ToolCall
from taskshield.engine.tool_functions import as_json
from taskshield_lab.bench.agentdojo import attack_placement, suites
from taskshield_lab.bench.agentdojo.attack_placement import Staged
from taskshield_lab.bench.agentdojo.items import Item
from taskshield_lab.bench.agentdojo.prepared_items import PreparedItem, question
from taskshield_lab.bench.attacks.context import Move, Payload
from taskshield_lab.bench.records import BenchmarkRun, Owner
from taskshield_lab.bench.run.failures import attempted
from taskshield_lab.bench.run.guarded_conversation import GuardedConversation
from taskshield_lab.bench.run.visibility import readable

AGENT = "worst-case"


def run(item: Item, shield: Shield | None, *, version: str) -> BenchmarkRun | None:
    """Let the agent work on one item; None where the attack makes no sense there."""
    asked = question(item, version)
    if asked is None:
        return None
    blank = asked.blank(AGENT)
    return attempted(blank, lambda: _sat(asked, blank, shield))


def _sat(asked: PreparedItem, blank: BenchmarkRun, shield: Shield | None) -> BenchmarkRun:
    task, staged = asked.task, asked.staged
    environment = asked.environment()
    functions = staged.functions(asked.suite)
    user_moves = attack_placement.moves(task.ground_truth(environment))
    agent = _Agent(
        world=suites.World(environment, functions),
        talk=GuardedConversation(
            shield, system=suites.system_message(), tools=suites.tool_specs(functions)
        ),
        staged=staged,
        goal_moves=_goal_moves(asked, environment),
    )
    answer = task.GROUND_TRUTH_OUTPUT if agent.work(task.PROMPT, user_moves) else ""
    agent.talk.answer(answer)
    utility = agent.world.utility(task, answer) and not agent.held_back
    done = asked.marked(blank, utility=utility, world=agent.world, answer=answer, made=agent.made)
    return replace(done, shown=agent.has_read, steps=agent.talk.steps)


def _goal_moves(asked: PreparedItem, environment: suites.Environment) -> tuple[Move, ...]:
    if asked.goal is None or asked.staged.stops_agent or asked.staged.payload.swaps:
        return ()
    if asked.staged.payload.moves is not None:
        return asked.staged.payload.moves
    return attack_placement.moves(asked.goal.ground_truth(environment))


class _Agent:
    def __init__(
        self,
        *,
        world: suites.World,
        talk: GuardedConversation,
        staged: Staged,
        goal_moves: tuple[Move, ...],
    ) -> None:
        self.world = world
        self.talk = talk
        self._staged = staged
        self._goal_moves = deque(goal_moves)
        self._calls = 0
        self.has_read = False
        """Whether it has read the injection."""
        self.held_back = False
        """Whether a call was refused that the user's task needs."""
        self.made: list[Move] = []
        """The calls that were executed."""

    def work(self, prompt: str, user_moves: tuple[Move, ...]) -> bool:
        """Do it all; whether the agent saw it through to the end."""
        self.talk.user(prompt)
        payload = self._staged.payload
        if payload.descriptions:
            self._fall_for_it()  # tools are described before anything else is said
        for move in user_moves:
            if self.has_read and self._staged.stops_agent:
                return False
            if self.has_read:
                self._swap(move)
            self._make(move, "user")
            if self.has_read and payload.spread:
                self._next_goal_move()
        while self.has_read and self._goal_moves:
            self._next_goal_move()
        return not (self.has_read and self._staged.stops_agent)

    def _swap(self, move: Move) -> None:
        """Make the user's call with the attacker's arguments as well."""
        swapped = move
        for swap in self._staged.payload.swaps:
            if swap.fits(move):
                swapped = swap.applied(swapped)
        if swapped is not move:
            self._make(swapped, "attacker")

    def _next_goal_move(self) -> None:
        if self._goal_moves:
            self._make(self._goal_moves.popleft(), "attacker")

    def _fall_for_it(self) -> None:
        self.has_read = True
        while self._goal_moves and not self._staged.payload.spread:
            self._next_goal_move()

    def _make(self, move: Move, owner: Owner, *, again: bool = True) -> None:
        """Make a call if it is let through, read the output, and try once more after an error."""
        self._calls += 1
        call = ToolCall(
            id=f"call_{self._calls}",
            name=move.tool,
            arguments=as_json(move.arguments),
        )
        if not self.talk.call(call, owner):
            self.held_back |= owner == "user"
            return
        self.made.append(move)
        output, is_error = self.world.execute(move.tool, move.arguments)
        shown = self.talk.output(call, output, is_error=is_error)
        if not self.has_read and _is_readable(self._staged.payload, shown):
            self._fall_for_it()
        if is_error and again and move.tool in self._staged.payload.errors:
            self._make(move, owner, again=False)


def _is_readable(payload: Payload, shown: str) -> bool:
    """Whether enough of what the attacker planted is there to follow it."""
    if payload.essential is not None:
        return readable(payload.essential, shown)
    planted = [*payload.slots.values(), *payload.errors.values()]
    return any(readable(text, shown) for text in planted)
