"""The states of one guarded request, as values: each has what is known by then.

`round_trip` has the transitions between them, and the table that says which there are.
"""

from asyncio import Task
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from taskshield.adapters.proxy.exchange import Body
from taskshield.server.proxy.client_request import ClientRequest
from taskshield.server.proxy.provider import ProviderResponse
from taskshield.server.proxy.request_check import CheckedRequest
from taskshield.server.proxy.response_check import CheckedResponse
from taskshield.server.proxy.response_relay import ResponseRelay
from taskshield.server.sessions.snapshots import SessionSnapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The provider's answer on its way to the client, over all its rounds."""

    checking: "Task[CheckedRequest]"
    """The check of the request. It may still run: text need not wait for it."""
    response: ProviderResponse
    """Of the present round."""
    relay: ResponseRelay
    body: Body
    """What the provider was sent in the present round."""
    checks: tuple[CheckedResponse, ...] = ()
    """One for each round that is complete."""
    release_s: float = 0.0
    """Time that it took to release it."""

    @property
    def request(self) -> CheckedRequest:
        """The request, once it is checked."""
        return self.checking.result()

    @property
    def snapshot(self) -> SessionSnapshot:
        """Where the session is."""
        return self.checks[-1].choices[0].snapshot if self.checks else self.request.session.snapshot

    def outcome(self) -> dict[str, str]:
        """What is known about the checks by now, by the names that clients see."""
        choice = self.checks[-1].reported if self.checks else None
        if choice is None:
            return _session(self.checking)
        spent_s = self.request.spent_s + sum(each.spent_s for each in self.checks) + self.release_s
        return {
            "session": choice.snapshot.id,
            "decision": choice.decision.id,
            "verdict": choice.verdict,
            "time-ms": f"{spent_s * 1000:.1f}",
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    output: Sequence[bytes] = ()
    """What the client is sent when this state is entered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Received(_State):
    """Read, but neither checked nor sent to the provider."""

    request: ClientRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Forwarded(_State):
    """Sent to the provider as it came, while it is checked."""

    request: ClientRequest
    checking: "Task[CheckedRequest]"
    sending: "Task[ProviderResponse]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked(_State):
    """Checked, and sent to the provider as the check has left it."""

    checking: "Task[CheckedRequest]"
    sending: "Task[ProviderResponse]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declined(_State):
    """The provider answered with an error, which the client gets as it is."""

    request: CheckedRequest
    response: ProviderResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerState(_State):
    """Any state in which an answer is on its way."""

    answer: Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering(AnswerState):
    """The provider answers. Text passes; calls and the end of the answer are buffered."""

    chunks: AsyncIterator[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checking(AnswerState):
    """The answer is complete and waits for its check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revising(AnswerState):
    """The answer was misaligned, and the model may try again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Releasing(AnswerState):
    """The answer is the last one. What the client may see of it is decided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Released(AnswerState):
    """The client has its answer and can continue from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed(_State):
    """There is no answer, or no more of it."""

    error: Exception
    in_stream: bool
    """Whether the client gets the error in its stream. Otherwise it has to be raised."""


State: TypeAlias = (
    Received
    | Forwarded
    | Checked
    | Declined
    | Answering
    | Checking
    | Revising
    | Releasing
    | Released
    | Failed
)


def outcome(state: State) -> dict[str, str]:
    """What is known in a state about the checks, by the names that clients see."""
    match state:
        case Received() | Failed():
            return {}
        case Forwarded() | Checked():
            return _session(state.checking)
        case Declined():
            return {"session": state.request.session.snapshot.id}
        case _:
            return state.answer.outcome()


def _session(checking: "Task[CheckedRequest]") -> dict[str, str]:
    known = checking.done() and not checking.cancelled() and checking.exception() is None
    return {"session": checking.result().session.snapshot.id} if known else {}
