"""Finds out which request fields an endpoint accepts.

Endpoints with the same API differ in a few fields, and say so only by rejecting a request. A
`Dialect` is the set of optional fields that a client sends. After a rejection that names one of
them, the client tries a simpler dialect, until the endpoint accepts or no field is left to drop.
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
    """The variant that omits the feature."""
    return {}


def zero_temperature(request: ChatRequest) -> Mapping[str, object]:
    """Ask for the most likely answer, so that verdicts repeat."""
    return {"temperature": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """A part of the request that not every endpoint accepts."""

    variants: tuple[Variant, ...]
    """Ways to ask for it that have not been rejected, the best first; never empty."""
    names: tuple[str, ...]
    """How error messages name it, in lower case."""
    suspect: bool = False
    """Whether it is dropped if the message names no feature."""

    def named_in(self, complaint: str) -> bool:
        """Whether an error message names this feature."""
        return any(name in complaint.lower() for name in self.names)


TEMPERATURE = Feature(variants=(zero_temperature, left_out), names=("temperature",))


@dataclass(frozen=True, slots=True)
class Dialect:
    """The features that a client asks for. The first ones are dropped before the last."""

    features: tuple[Feature, ...]

    def fields(self, request: ChatRequest) -> dict[str, object]:
        """The fields to add to the body of this request."""
        fields: dict[str, object] = {}
        for feature in self.features:
            fields.update(feature.variants[0](request))
        return fields

    def simpler(self, complaints: tuple[str, ...], *, guess: bool) -> "Dialect | None":
        """The dialect to try after a rejection; None if no simpler dialect can help.

        Args:
            complaints: The endpoint's words, the most exact first; none if it did not reject.
            guess: Whether to drop suspects if the words name no feature.
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
                return self._dropping(feature)
        return None

    def _dropping(self, feature: Feature) -> "Dialect":
        simpler = replace(feature, variants=feature.variants[1:])
        return Dialect(tuple(simpler if each is feature else each for each in self.features))


class Negotiator:
    """Asks one endpoint, and remembers what the endpoint accepts.

    Only a dialect that got an answer is remembered. So a request that fails for another reason,
    for example its length, may cost a few attempts, but it does not affect later requests.
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
            simpler = dialect.simpler(
                answer.complaints if believed else (),
                guess=answer.rejected and not self._accepted,
            )
            if simpler is None:
                raise answer.error
            dialect = simpler
        self._accepted = True
        if dialect is not first:  # otherwise it could undo what a concurrent request has found
            self._dialect = dialect
        return answer
