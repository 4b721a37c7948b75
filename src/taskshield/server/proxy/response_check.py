"""A model's answer before the checker: which calls are refused, and the note that says why."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from taskshield.adapters.proxy.exchange import Reply
from taskshield.adapters.proxy.strict_json import repeats_a_member
from taskshield.core.decisions import Action, Decision
from taskshield.core.messages import Message
from taskshield.server.proxy.notices import SAME_IDS, SAME_MEMBERS, note
from taskshield.server.sessions.checker import SessionChecker
from taskshield.server.sessions.resume_keys import ResumeKeys
from taskshield.server.sessions.snapshots import RequestSource, SessionSnapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedChoice:
    """One message of an answer, judged."""

    snapshot: SessionSnapshot
    """The session after the message."""
    decision: Decision
    refused: frozenset[str]
    """Ids of the calls that do not reach the client."""
    verdict: Action
    """The action for the message."""
    note: str | None
    """Why calls are refused; None where the whole message is allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedResponse:
    """An answer, judged."""

    choices: tuple[CheckedChoice, ...]
    """One, or as many as were asked for."""
    spent_s: float
    """Time of the check."""

    @property
    def allowed(self) -> bool:
        """Whether the client gets it as it is."""
        return all(choice.note is None for choice in self.choices)

    @property
    def refused(self) -> frozenset[str]:
        """Ids of the calls that do not reach the client."""
        return frozenset[str]().union(*(choice.refused for choice in self.choices))

    @property
    def note(self) -> str:
        """Why calls are refused."""
        return "\n\n".join(choice.note for choice in self.choices if choice.note is not None)

    @property
    def feedback(self) -> str | None:
        """The feedback to the model, where it may try again."""
        if len(self.choices) != 1 or self.choices[0].verdict != "revise":
            return None
        return self.choices[0].decision.content

    @property
    def reported(self) -> CheckedChoice | None:
        """The choice that headers report: the first that is not allowed, else the first."""
        refused = [choice for choice in self.choices if choice.note is not None]
        return next(iter((*refused, *self.choices)), None)


async def check_response(
    checker: SessionChecker,
    snapshot: SessionSnapshot,
    reply: Reply,
    *,
    source: RequestSource,
    resume_keys: Callable[[Message], Awaitable[ResumeKeys | None]],
) -> CheckedResponse:
    """Judge an answer.

    Each of several choices is judged as if it were the only one, and becomes a session of its own.

    Args:
        checker: Judges messages.
        snapshot: The session before the answer.
        reply: The answer.
        source: Where the request came from.
        resume_keys: How the client continues from a message, where it gets that as it is.

    Raises:
        StoreError: Nothing was stored, so nothing is decided.
    """
    began = time.perf_counter()
    choices = [
        await _check_choice(checker, snapshot, message, source, await resume_keys(message))
        for message in reply.messages
    ]
    return CheckedResponse(choices=tuple(choices), spent_s=time.perf_counter() - began)


async def _check_choice(
    checker: SessionChecker,
    snapshot: SessionSnapshot,
    message: Message,
    source: RequestSource,
    resume: ResumeKeys | None,
) -> CheckedChoice:
    ids = [call.id for call in message.tool_calls]
    ambiguity = _ambiguity(message)
    if ambiguity is not None:
        message, resume = replace(message, tool_calls=()), None
    result = await checker.check_after(snapshot, [message], source=source, resume=resume)
    (decision,) = result.decisions
    reasons = [] if decision.allowed else [note(decision, result.approvals.get(decision.id))]
    if ambiguity is not None:
        reasons.append(ambiguity)
    refused = frozenset(each.call.id for each in decision.calls if not each.allowed)
    return CheckedChoice(
        snapshot=result.snapshot,
        decision=decision,
        refused=refused if ambiguity is None else frozenset(ids),
        verdict=decision.action if ambiguity is None else "block",
        note="\n\n".join(reasons) if reasons else None,
    )


def _ambiguity(message: Message) -> str | None:
    """Why the calls of a message cannot be judged: others could read them in another way."""
    ids = [call.id for call in message.tool_calls]
    if len(set(ids)) < len(ids):
        return SAME_IDS
    if any(repeats_a_member(call.arguments) for call in message.tool_calls):
        return SAME_MEMBERS
    return None
