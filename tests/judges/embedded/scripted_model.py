"""A stand-in for the embedded model that answers from functions."""

import json
from collections.abc import Callable, Sequence
from threading import Event
from typing import Any

from taskshield.core.tools import Tier
from taskshield.judges.embedded.decision.features import feature_list
from taskshield.judges.embedded.network.model import Model

LABEL = "scripted-1.0@0123456789ab"
THRESHOLDS = {
    "read": 0.1,
    "write": 0.2,
    "external": 0.3,
    "destructive": 0.4,
    "financial": 0.5,
    "access": 0.6,
    "plan": 0.05,
}
assert set(THRESHOLDS) == {*(tier.value for tier in Tier), "plan"}


def decision(**directive: float) -> dict[str, Any]:
    """A classifier for which only the model's score counts."""
    return {
        "weights": {name: float(name == "serves") for name in feature_list()},
        "bias": 0.0,
        "thresholds": THRESHOLDS,
        "directive": {
            "slope": 1.0,
            "offset": 0.0,
            "planted": 0.7,
            "planted_delegated": 0.9,
            "joined": 0.3,
            **directive,
        },
    }


class ScriptedModel(Model):
    """By default every call serves the user, and no segment is a directive."""

    def __init__(
        self,
        *,
        serves: Callable[[str, str], float] = lambda request, described: 3.0,
        asks: Callable[[str, str], float] = lambda instruction, described: -3.0,
        planted: Callable[[str], float] = lambda piece: -9.0,
        weighs: dict[str, Any] | None = None,
    ) -> None:
        self.label = LABEL
        self.decision = json.dumps(decision() if weighs is None else weighs).encode()
        self._serves = serves
        self._asks = asks
        self._planted = planted
        self.asked: list[tuple[str, str]] = []
        self.heads: list[str] = []
        self.pieces: list[str] = []

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[float, float]]:
        self.asked += pairs
        return [(self._asks(*pair), self._serves(*pair)) for pair in pairs]

    def tags(self, head: str, pieces: Sequence[str], stop: Event | None = None) -> list[float]:
        self.heads.append(head)
        self.pieces.extend(pieces)
        return [self._planted(piece) for piece in pieces]
