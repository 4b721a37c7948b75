"""The JSON of evidence: the provenance of each value of a call."""

from collections.abc import Iterable

from taskshield.core.provenance import TracedValue, ValueOrigin
from taskshield.server.routes.api.models import ResponseModel


class PlaceOut(ResponseModel):
    """Characters `start` to `end` (exclusive) of a message's text."""

    message: int
    start: int
    end: int


class EvidenceOut(ResponseModel):
    """A value of a call's arguments, and where it comes from."""

    call_id: str
    path: str
    """Path in the arguments; empty where they are not JSON."""
    value: str
    origin: ValueOrigin
    """The user's words, tool output, only a directive in tool output, only what the agent wrote,
    or nowhere."""
    places: list[PlaceOut]


def evidence_out(traced: Iterable[TracedValue]) -> list[EvidenceOut]:
    """From traced values."""
    return [EvidenceOut.model_validate(each, from_attributes=True) for each in traced]
