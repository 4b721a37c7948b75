"""Whether a tool call may run, and what a person is asked where that is for a person to say."""

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
from taskshield.engine.state import SessionState
from taskshield.integrations.langchain.memory import Thread
from taskshield.integrations.langchain.messages import read_call

ANSWER = cast(
    "type[ApproveDecision | RejectDecision]",
    Annotated[ApproveDecision | RejectDecision, Discriminator("type")],
)
"""What a person may answer; LangGraph refuses anything else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """The decision on a call that is about to run."""

    session: SessionState
    """What is known now."""
    decision: Decision
    verdict: CallVerdict
    """On this call; the decision may be about more."""
    cases: tuple[Case, ...] = ()
    """Checks that were made just now, for this call alone."""
    rejected: RejectDecision | None = None
    """The answer of a person who was asked and did not approve."""

    @property
    def note(self) -> str | None:
        """Feedback on words whose calls all run; it goes with the result of the first."""
        calls = self.decision.calls
        first = self.verdict is calls[0]
        return self.decision.feedback if first and all(each.allowed for each in calls) else None


def known(thread: Thread, call: ToolCall) -> Admission | None:
    """What was decided about this very call when the model made it."""
    decision = thread.verdicts()
    if decision is None:
        return None
    fingerprint = call.fingerprint()
    for verdict in decision.calls:
        if verdict.call.fingerprint() == fingerprint:
            return Admission(session=thread.session, decision=decision, verdict=verdict)
    return None


def checked(session: SessionState, decision: Decision, earlier: tuple[Case, ...] = ()) -> Admission:
    """What was decided about a call just now."""
    cases = (*earlier, decision.case)
    return Admission(session=session, decision=decision, verdict=decision.calls[0], cases=cases)


def request(call: LangChainCall, decision: Decision) -> ToolApprovalRequest:
    """What a person is asked about a call."""
    return ToolApprovalRequest(
        type="tool_approval",
        tool_call_id=read_call(call).id,
        name=call["name"],
        args=call["args"],
        description=decision.content,
    )
