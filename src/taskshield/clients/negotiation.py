"""Finding out which request fields an endpoint accepts.

Endpoints that claim the same API differ in a few fields, and say so only by rejecting a request. A
`Dialect` is what a client sends at present; a rejection that names one of its features leads to an
easier dialect, until the endpoint accepts or nothing is left to give up.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from taskshield.clients.failures import Failure
from taskshield.core.chat import ChatRequest

Variant: TypeAlias = Callable[[ChatRequest], Mapping[str, object]]
"""One way to ask for a feature: the fields that it adds to the request's body."""

Post: TypeAlias = Callable[[ChatRequest, Mapping[str, object]], Awaitable[bytes | Failure]]
"""Send a request with these fields; the body of the answer, or how it failed."""


def left_out(request: ChatRequest) -> Mapping[str, object]:
    """The variant that does not ask for the feature at all."""
    return {}


def zero_temperature(request: ChatRequest) -> Mapping[str, object]:
    """Ask for the most likely answer, so that verdicts repeat."""
    return {"temperature": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """A part of the request that not every endpoint takes."""

    variants: tuple[Variant, ...]
    """Ways to ask for it that have not been rejected, the best first; never empty."""
    names: tuple[str, ...]
    """What an error message calls it, in lower case."""
    suspect: bool = False
    """Whether it is to blame when the message names no feature."""

    def named_in(self, complaint: str) -> bool:
        """Whether an error message talks about this feature."""
        return any(name in complaint.lower() for name in self.names)


TEMPERATURE = Feature(variants=(zero_temperature, left_out), names=("temperature",))


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a client asks for, feature by feature. The first ones are given up before the last."""

    features: tuple[Feature, ...]

    def fields(self, request: ChatRequest) -> dict[str, object]:
        """The fields to add to the body of this request."""
        fields: dict[str, object] = {}
        for feature in self.features:
            fields.update(feature.variants[0](request))
        return fields

    def easier(self, complaints: tuple[str, ...], *, guess: bool) -> "Dialect | None":
        """The dialect to try after a rejection, or None where it says nothing that could be helped.

        Args:
            complaints: The endpoint's words, the most exact first; none if it did not reject.
            guess: Whether to give up suspects when the words name no feature.
        """
        if not complaints:
            return None
        blamed = [
            feature
            for complaint in complaints
            for feature in self.features
            if feature.named_in(complaint)
        ]
        if not blamed and guess:
            blamed = [feature for feature in self.features if feature.suspect]
        for feature in blamed:
            if len(feature.variants) > 1:
                return self._giving_up(feature)
        return None

    def _giving_up(self, feature: Feature) -> "Dialect":
        easier = replace(feature, variants=feature.variants[1:])
        return Dialect(tuple(easier if each is feature else each for each in self.features))


class Negotiator:
    """Asks one endpoint, and remembers for its lifetime what the endpoint accepts.

    Only a dialect that got an answer is remembered. So a request that is bad for another reason,
    say too long, may cost a few attempts, but it does not spoil later ones.
    """

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._accepted = False

    async def ask(self, request: ChatRequest, post: Post) -> bytes:
        """Send the request in the best dialect that the endpoint accepts; the body of the answer.

        Raises:
            UpstreamError: The endpoint failed, or rejected every dialect.
        """
        first = dialect = self._dialect
        while True:
            answer = await post(request, dialect.fields(request))
            if isinstance(answer, bytes):
                break
            # Once the endpoint has accepted a dialect, a rejection that names no feature is about
            # the request's content, and a server error is just an error, whatever words it holds.
            believed = answer.rejected or not self._accepted
            easier = dialect.easier(
                answer.complaints if believed else (),
                guess=answer.rejected and not self._accepted,
            )
            if easier is None:
                raise answer.error
            dialect = easier
        self._accepted = True
        if dialect is not first:  # else it could undo what a concurrent request has learnt
            self._dialect = dialect
        return answer
