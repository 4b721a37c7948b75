"""A model's answer before the guard: what of it goes on, and what is said about the rest."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from taskshield.adapters.proxy.exchange import Reply
from taskshield.core.decisions import Action, Decision
from taskshield.core.messages import Message
from taskshield.server.proxy.notices import SAME_IDS, note
from taskshield.server.sessions.checker import SessionChecker
from taskshield.server.sessions.resume_keys import ResumeKeys
from taskshield.server.sessions.snapshots import RequestSource, SessionSnapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedChoice:
    """One message of an answer, judged."""

    point: SessionSnapshot
    """Where its session is now."""
    decision: Decision
    refused: frozenset[str]
    """Ids of its calls that do not go on."""
    verdict: Action
    """What becomes of the message."""
    note: str | None
    """Why; None where all of it goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedResponse:
    """An answer, judged."""

    choices: tuple[CheckedChoice, ...]
    """One, or as many as were asked for."""

    @property
    def allowed(self) -> bool:
        """Whether it goes on as it is."""
        return all(choice.note is None for choice in self.choices)

    @property
    def refused(self) -> frozenset[str]:
        """Ids of the calls that do not go on."""
        return frozenset[str]().union(*(choice.refused for choice in self.choices))

    @property
    def note(self) -> str:
        """Why not all of it goes on."""
        return "\n\n".join(choice.note for choice in self.choices if choice.note is not None)

    @property
    def feedback(self) -> str | None:
        """What the model is told, where it may try again."""
        if len(self.choices) != 1 or self.choices[0].verdict != "revise":
            return None
        return self.choices[0].decision.content

    @property
    def worst(self) -> CheckedChoice | None:
        """The choice that tells most about the answer."""
        held = [choice for choice in self.choices if choice.note is not None]
        return next(iter((*held, *self.choices)), None)


async def judge(
    guard: SessionChecker,
    point: SessionSnapshot,
    reply: Reply,
    *,
    asker: RequestSource,
    naming: Callable[[Message], ResumeKeys | None],
) -> CheckedResponse:
    """Judge an answer that was given at this point.

    Where there are several choices, each is judged as if it were the only one, and becomes a
    session of its own.

    Args:
        guard: Who judges.
        point: Where the session is.
        reply: The answer.
        asker: Who asks.
        naming: How the client goes on from one of its messages, where it gets that as it is.

    Raises:
        StoreError: Nothing was written down, and nothing decided.
    """
    choices = [
        await _choice(guard, point, message, asker, naming(message)) for message in reply.messages
    ]
    return CheckedResponse(choices=tuple(choices))


async def _choice(
    guard: SessionChecker,
    point: SessionSnapshot,
    message: Message,
    asker: RequestSource,
    naming: ResumeKeys | None,
) -> CheckedChoice:
    ids = [call.id for call in message.tool_calls]
    ambiguous = len(set(ids)) < len(ids)
    asked: Sequence[Message] = [replace(message, tool_calls=()) if ambiguous else message]
    checked = await guard.check_after(
        point, asked, source=asker, resume=None if ambiguous else naming
    )
    (decision,) = checked.decisions
    told = None if decision.allowed else note(decision, checked.approvals.get(decision.id))
    if ambiguous:
        told = SAME_IDS if told is None else f"{told}\n\n{SAME_IDS}"
    refused = frozenset(each.call.id for each in decision.calls if not each.allowed)
    return CheckedChoice(
        point=checked.snapshot,
        decision=decision,
        refused=frozenset(ids) if ambiguous else refused,
        verdict="block" if ambiguous else decision.action,
        note=told,
    )
