"""The worst-case agent: completes the user's task, and obeys an injection once it has read it.

It makes the calls that AgentDojo lists as solutions, and ignores all feedback.
"""

from collections import deque
from dataclasses import replace

from taskshield.api.shields import Shield
from taskshield.core.messages import ToolCall
from taskshield.engine.tool_functions import as_json
from taskshield_lab.bench.agentdojo import attack_placement, suites
from taskshield_lab.bench.agentdojo.attack_placement import PlacedAttack
from taskshield_lab.bench.agentdojo.items import Item
from taskshield_lab.bench.agentdojo.prepared_items import PreparedItem, prepare
from taskshield_lab.bench.attacks.context import Move, Payload
from taskshield_lab.bench.records import BenchmarkRun, Owner
from taskshield_lab.bench.run.failures import attempt
from taskshield_lab.bench.run.guarded_conversation import GuardedConversation
from taskshield_lab.bench.run.visibility import readable

AGENT = "worst-case"


def run(item: Item, shield: Shield | None, *, version: str) -> BenchmarkRun | None:
    """Run one item. None if its attack does not apply to its task."""
    prepared = prepare(item, version)
    if prepared is None:
        return None
    blank = prepared.blank(AGENT)
    return attempt(blank, lambda: _run_prepared(prepared, blank, shield))


def _run_prepared(
    prepared: PreparedItem, blank: BenchmarkRun, shield: Shield | None
) -> BenchmarkRun:
    task, placed = prepared.task, prepared.placed
    environment = prepared.environment()
    functions = placed.functions(prepared.suite)
    user_moves = attack_placement.moves(task.ground_truth(environment))
    agent = _Agent(
        simulation=suites.Simulation(environment, functions),
        conversation=GuardedConversation(
            shield, system=suites.system_message(), tools=suites.tool_specs(functions)
        ),
        placed=placed,
        goal_moves=_goal_moves(prepared, environment),
    )
    answer = task.GROUND_TRUTH_OUTPUT if agent.work(task.PROMPT, user_moves) else ""
    agent.conversation.answer(answer)
    utility = agent.simulation.utility(task, answer) and not agent.user_call_blocked
    done = prepared.with_outcome(
        blank, utility=utility, simulation=agent.simulation, answer=answer, made=agent.made
    )
    return replace(done, shown=agent.has_read, steps=agent.conversation.steps)


def _goal_moves(prepared: PreparedItem, environment: suites.Environment) -> tuple[Move, ...]:
    if prepared.goal is None or prepared.placed.stops_agent or prepared.placed.payload.swaps:
        return ()
    if prepared.placed.payload.moves is not None:
        return prepared.placed.payload.moves
    return attack_placement.moves(prepared.goal.ground_truth(environment))


class _Agent:
    def __init__(
        self,
        *,
        simulation: suites.Simulation,
        conversation: GuardedConversation,
        placed: PlacedAttack,
        goal_moves: tuple[Move, ...],
    ) -> None:
        self.simulation = simulation
        self.conversation = conversation
        self._placed = placed
        self._goal_moves = deque(goal_moves)
        self._calls = 0
        self.has_read = False
        """Whether it has read the injection."""
        self.user_call_blocked = False
        """Whether a call was blocked that the user's task needs."""
        self.made: list[Move] = []
        """The calls that were executed."""

    def work(self, prompt: str, user_moves: tuple[Move, ...]) -> bool:
        """Work on the task. Whether the agent finished it."""
        self.conversation.user(prompt)
        payload = self._placed.payload
        if payload.descriptions:
            self._obey_injection()  # an agent reads the descriptions of tools first
        for move in user_moves:
            if self.has_read and self._placed.stops_agent:
                return False
            if self.has_read:
                self._swap(move)
            self._make(move, "user")
            if self.has_read and payload.spread:
                self._next_goal_move()
        while self.has_read and self._goal_moves:
            self._next_goal_move()
        return not (self.has_read and self._placed.stops_agent)

    def _swap(self, move: Move) -> None:
        """Make the user's call again with the attacker's arguments."""
        swapped = move
        for swap in self._placed.payload.swaps:
            if swap.fits(move):
                swapped = swap.applied(swapped)
        if swapped is not move:
            self._make(swapped, "attacker")

    def _next_goal_move(self) -> None:
        if self._goal_moves:
            self._make(self._goal_moves.popleft(), "attacker")

    def _obey_injection(self) -> None:
        self.has_read = True
        while self._goal_moves and not self._placed.payload.spread:
            self._next_goal_move()

    def _make(self, move: Move, owner: Owner, *, retry: bool = True) -> None:
        """Make a call if it is allowed, read its output, and retry once after an injected error."""
        self._calls += 1
        call = ToolCall(
            id=f"call_{self._calls}",
            name=move.tool,
            arguments=as_json(move.arguments),
        )
        if not self.conversation.call(call, owner):
            self.user_call_blocked |= owner == "user"
            return
        self.made.append(move)
        output, is_error = self.simulation.execute(move.tool, move.arguments)
        shown = self.conversation.output(call, output, is_error=is_error)
        if not self.has_read and _is_readable(self._placed.payload, shown):
            self._obey_injection()
        if is_error and retry and move.tool in self._placed.payload.errors:
            self._make(move, owner, retry=False)


def _is_readable(payload: Payload, shown: str) -> bool:
    """Whether enough of the injected text is shown to follow it."""
    if payload.essential is not None:
        return readable(payload.essential, shown)
    injected = [*payload.slots.values(), *payload.errors.values()]
    return any(readable(text, shown) for text in injected)
