"""The fitted classifier: how likely a call serves the user, and from where on that is too little.

Weights and thresholds were fitted on conversations from domains that the model had not seen. They
come with the model and are covered by its hash.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from taskshield.core.errors import ModelError
from taskshield.core.tools import Tier
from taskshield.judges.embedded.evidence.call_evidence import Kind, kind_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """From a logit to a calibrated probability."""

    slope: float
    offset: float

    def probability(self, logit: float) -> float:
        """How likely it is."""
        return sigmoid(self.slope * logit + self.offset)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallClassifier:
    """Weights of the evidence, and thresholds."""

    weights: Mapping[str, float]
    """By name of the feature. A feature that the model was not fitted with has none."""
    bias: float
    thresholds: Mapping[str, float]
    """By risk tier or "plan": a call no likelier than this to serve the user is misaligned."""
    directive: Calibration
    """From the model's logit for a segment to the probability that it is an injected directive."""
    planted: float
    """From this probability on, a segment is taken for an injected directive."""
    planted_delegated: float
    """The same where the user delegated work to a source."""
    joined: float
    """From this probability on, the neighbour of such a segment belongs to the directive."""

    def serves(self, features: Mapping[str, float]) -> float:
        """How likely a call serves the user."""
        return sigmoid(
            self.bias + math.fsum(weight * features[name] for name, weight in self.weights.items())
        )

    def plan_serves(self, pressed: float) -> float:
        """How likely a plan is the agent's own and not asked for by a directive.

        Args:
            pressed: Log-odds that a directive asks for it, less those that the user does.
        """
        return sigmoid(-pressed)

    def threshold(self, kind: Kind) -> float:
        """The threshold for this kind of call."""
        return self.thresholds[kind_name(kind)]


def read_classifier(content: bytes, names: frozenset[str]) -> CallClassifier:
    """Read a classifier from its file.

    Args:
        content: JSON.
        names: The features that this release knows.

    Raises:
        ModelError: The file is malformed, or made for other features.
    """
    try:
        found: dict[str, Any] = json.loads(content)
        decision = CallClassifier(
            weights={str(name): _number(weight) for name, weight in found["weights"].items()},
            bias=_number(found["bias"]),
            thresholds={str(kind): _number(least) for kind, least in found["thresholds"].items()},
            directive=Calibration(
                slope=_number(found["directive"]["slope"]),
                offset=_number(found["directive"]["offset"]),
            ),
            planted=_number(found["directive"]["planted"]),
            planted_delegated=_number(found["directive"]["planted_delegated"]),
            joined=_number(found["directive"]["joined"]),
        )
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        raise ModelError("The embedded model's decision file cannot be read.") from error
    kinds = {*(tier.value for tier in Tier), "plan"}
    known = bool(decision.weights) and decision.weights.keys() <= names
    if not known or decision.thresholds.keys() != kinds:
        raise ModelError("The embedded model's decision file belongs to another release.")
    return decision


def _number(given: Any) -> float:
    found = float(given)
    if not math.isfinite(found):  # JSON has NaN, which `sigmoid` would turn into near certainty
        raise ValueError("not a number")
    return found


def sigmoid(logit: float) -> float:
    """From log-odds to a probability."""
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, logit))))
