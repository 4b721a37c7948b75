"""Who checks what goes through a gateway: a judge in this process, or a taskshield server."""

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
from taskshield.engine.risk_tiers import tier_of


class Session(Protocol):
    """One conversation."""

    @property
    def goal_known(self) -> bool:
        """Whether somebody has said, or can say, what the user wants."""
        ...

    async def add(self, message: Message, *tools: ToolSpec) -> Decision:
        """Check the next message. Where that cannot be done, the decision says so.

        Args:
            message: What the agent or a tool says.
            tools: Those that the message calls.
        """
        ...

    async def approve(self, decision: Decision) -> bool:
        """Let through once what a decision held back, on a person's word; whether it worked."""
        ...


class Checks(Protocol):
    """Makes sessions."""

    @property
    def policy(self) -> Policy:
        """What is done about what cannot be checked, and the tiers of tools."""
        ...

    def begin(self) -> Session:
        """A session for a client that names none."""
        ...

    def named(self, id: str) -> Session:
        """The session that a client names.

        Raises:
            ConfigError: There is nobody here who knows sessions by name.
        """
        ...

    def about(self, task: str) -> Session:
        """A session beside all others, in which somebody wants just this."""
        ...


def unchecked(
    message: Message, tools: Iterable[ToolSpec], policy: Policy, error: JudgeError, judge: str
) -> Decision:
    """The decision on a message that could not be checked: what policy says about outages."""
    known = {tool.name: tool for tool in tools}
    return decide(
        Case(
            id=uuid.uuid4().hex,
            message=message,
            index=0,
            policy=policy,
            check="failed",
            trace=Trace(judge=judge),
            tiers={call.name: tier_of(call.name, known, policy) for call in message.tool_calls},
            outage=Outage(kind=error.kind, detail=str(error)),
        )
    )
