"""The decision on a tool call that is about to run, and the question to a person about it."""

from dataclasses import dataclass
from typing import Annotated, cast

from langchain.agents.middleware.human_in_the_loop import (
    ApproveDecision,
    RejectDecision,
    ToolApprovalRequest,
)
from langchain_core.messages.tool import ToolCall as LangChainCall
from pydantic import Discriminator

from taskshield.core.decisions import CallVerdict, Case, Decision
from taskshield.core.messages import ToolCall
from taskshield.core.session_state import SessionState
from taskshield.integrations.langchain.incoming import read_call
from taskshield.integrations.langchain.thread_state import Thread

ANSWER = cast(
    "type[ApproveDecision | RejectDecision]",
    Annotated[ApproveDecision | RejectDecision, Discriminator("type")],
)
"""The answers that LangGraph accepts from a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallDecision:
    """The decision on a call that is about to run."""

    session: SessionState
    """The state after the decision."""
    decision: Decision
    verdict: CallVerdict
    """The verdict on this call; the decision may be about several calls."""
    cases: tuple[Case, ...] = ()
    """Checks that were made for this call alone."""
    rejected: RejectDecision | None = None
    """The answer of a person who rejected the call."""

    @property
    def note(self) -> str | None:
        """Feedback on words next to allowed calls; the result of the first call carries it."""
        calls = self.decision.calls
        first = self.verdict is calls[0]
        return self.decision.feedback if first and all(each.allowed for each in calls) else None


def earlier_decision(thread: Thread, call: ToolCall) -> CallDecision | None:
    """The decision on this call from the check of the model's message, if the call is unchanged."""
    decision = thread.verdicts()
    if decision is None:
        return None
    fingerprint = call.fingerprint()
    for verdict in decision.calls:
        if verdict.call.fingerprint() == fingerprint:
            return CallDecision(session=thread.session, decision=decision, verdict=verdict)
    return None


def new_decision(
    session: SessionState, decision: Decision, earlier: tuple[Case, ...] = ()
) -> CallDecision:
    """A decision that was made for this call alone."""
    cases = (*earlier, decision.case)
    return CallDecision(session=session, decision=decision, verdict=decision.calls[0], cases=cases)


def approval_request(call: LangChainCall, decision: Decision) -> ToolApprovalRequest:
    """The question to a person about a call."""
    return ToolApprovalRequest(
        type="tool_approval",
        tool_call_id=read_call(call).id,
        name=call["name"],
        args=call["args"],
        description=decision.content,
    )
