"""A conversation of the exam: put to a shield where there is one, and written down."""

from taskshield.api.sessions import Session
from taskshield.api.shields import Shield
from taskshield.core.decisions import Decision
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall, text_message
from taskshield.core.tools import ToolSpec
from taskshield_lab.bench.records import Owner, RecordedStep
from taskshield_lab.bench.run import step_records as steps


class GuardedConversation:
    """One conversation, every message of which becomes a step of a record."""

    def __init__(self, shield: Shield | None, *, system: str, tools: tuple[ToolSpec, ...]) -> None:
        self._session: Session | None = None
        if shield is not None:
            self._session = shield.session(system=system, tools=tools)
        self._steps: list[RecordedStep] = []

    @property
    def steps(self) -> tuple[RecordedStep, ...]:
        """What was said and done so far."""
        return tuple(self._steps)

    def user(self, text: str) -> None:
        """The user speaks."""
        self.add(text_message(Level.USER, text))

    def answer(self, text: str) -> None:
        """The agent gives its answer."""
        self.add(text_message(Level.ASSISTANT, text))

    def call(self, call: ToolCall, owner: Owner) -> bool:
        """The agent wants to make a call: whether it may."""
        message = Message(level=Level.ASSISTANT, tool_calls=(call,))
        return call.id in self.add(message, owner=owner)

    def output(self, call: ToolCall, text: str, *, is_error: bool) -> str:
        """A tool answers: what the agent gets to read of it."""
        message = Message(
            level=Level.TOOL,
            parts=text_message(Level.TOOL, text).parts,
            answers=call.id,
            is_error=is_error,
        )
        decision = self._put(message)
        return text if decision is None else decision.content

    def add(self, message: Message, *, owner: Owner | None = None) -> frozenset[str]:
        """Any message: the ids of those of its calls that may run."""
        decision = self._put(message, owner=owner)
        if decision is None:
            return frozenset(call.id for call in message.tool_calls)
        return frozenset(verdict.call.id for verdict in decision.calls if verdict.allowed)

    def _put(self, message: Message, *, owner: Owner | None = None) -> Decision | None:
        """Write a message down, with the shield's word on it where there is a shield."""
        if self._session is None:
            self._steps.append(steps.unguarded(message, owner=owner))
            return None
        decision = self._session.add(message)
        self._steps.append(steps.judged(decision, owner=owner))
        return decision
