"""A conversation that a shield checks, if there is one, and that is recorded."""

from taskshield.api.sessions import Session
from taskshield.api.shields import Shield
from taskshield.core.decisions import Decision
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall, text_message
from taskshield.core.tools import ToolSpec
from taskshield_lab.bench.records import Owner, RecordedStep
from taskshield_lab.bench.run.step_records import checked_step, unchecked_step


class GuardedConversation:
    """One conversation. Each message becomes a step of a record."""

    def __init__(self, shield: Shield | None, *, system: str, tools: tuple[ToolSpec, ...]) -> None:
        self._session: Session | None = None
        if shield is not None:
            self._session = shield.session(system=system, tools=tools)
        self._steps: list[RecordedStep] = []

    @property
    def steps(self) -> tuple[RecordedStep, ...]:
        """The steps so far."""
        return tuple(self._steps)

    def user(self, text: str) -> None:
        """Add a message of the user."""
        self.add(text_message(Level.USER, text))

    def answer(self, text: str) -> None:
        """Add the agent's final answer."""
        self.add(text_message(Level.ASSISTANT, text))

    def call(self, call: ToolCall, owner: Owner) -> bool:
        """Add a call of the agent. Whether it may run."""
        message = Message(level=Level.ASSISTANT, tool_calls=(call,))
        return call.id in self.add(message, owner=owner)

    def output(self, call: ToolCall, text: str, *, is_error: bool) -> str:
        """Add the output of a tool. What the agent may read of it."""
        message = Message(
            level=Level.TOOL,
            parts=text_message(Level.TOOL, text).parts,
            answers=call.id,
            is_error=is_error,
        )
        decision = self._check(message)
        return text if decision is None else decision.content

    def add(self, message: Message, *, owner: Owner | None = None) -> frozenset[str]:
        """Add any message. The ids of its calls that may run."""
        decision = self._check(message, owner=owner)
        if decision is None:
            return frozenset(call.id for call in message.tool_calls)
        return frozenset(verdict.call.id for verdict in decision.calls if verdict.allowed)

    def _check(self, message: Message, *, owner: Owner | None = None) -> Decision | None:
        """Record a message, with the decision on it if there is a shield."""
        if self._session is None:
            self._steps.append(unchecked_step(message, owner=owner))
            return None
        decision = self._session.add(message)
        self._steps.append(checked_step(decision, owner=owner))
        return decision
