"""What a gateway needs of those who check its messages, and the decision when they cannot."""

import uuid
from collections.abc import Iterable
from typing import Protocol

from taskshield.core.assessments import Trace
from taskshield.core.decisions import Case, Decision, Outage
from taskshield.core.errors import JudgeError
from taskshield.core.messages import Message
from taskshield.core.policy import Policy
from taskshield.core.tools import ToolSpec
from taskshield.engine.decide import decide
from taskshield.engine.risk_tiers import tiers_of


class Session(Protocol):
    """One guarded conversation."""

    @property
    def goal_known(self) -> bool:
        """Whether the user's task is known to the session, or can become known."""
        ...

    async def add(self, message: Message, *tools: ToolSpec) -> Decision:
        """Check the next message. If it cannot be checked, the decision has an outage.

        Args:
            message: A message of the agent or of a tool.
            tools: The tools that the message calls.
        """
        ...

    async def approve(self, decision: Decision) -> bool:
        """Allow a blocked call once, because a person approved it; returns whether it may run."""
        ...


class Checks(Protocol):
    """Creates sessions."""

    @property
    def policy(self) -> Policy:
        """What to do about messages that cannot be checked, and the tiers of tools."""
        ...

    def begin(self) -> Session:
        """The session of a client that names none."""
        ...

    def named(self, id: str) -> Session:
        """The session that a client names.

        Raises:
            ConfigError: Sessions have no names here.
        """
        ...

    def about(self, task: str) -> Session:
        """A separate session with this task only."""
        ...


def unchecked(
    message: Message, tools: Iterable[ToolSpec], policy: Policy, error: JudgeError, judge: str
) -> Decision:
    """The decision on a message that could not be checked, by the policy for outages."""
    known = {tool.name: tool for tool in tools}
    return decide(
        Case(
            id=uuid.uuid4().hex,
            message=message,
            index=0,
            policy=policy,
            check="failed",
            trace=Trace(judge=judge),
            tiers=tiers_of(message.tool_calls, known, policy),
            outage=Outage(kind=error.kind, detail=str(error)),
        )
    )
