"""What folds might have found, made up: enough calls of every kind for all figures."""

from functools import cache

import numpy as np

from taskshield.core.tools import Tier
from taskshield.judges.embedded.decision.features import feature_list
from taskshield_lab.training.fitting.decision import FittedDecision, fit_decision
from taskshield_lab.training.fitting.fold_predictions import FoldPredictions, Limits

KINDS = (*(tier.value for tier in Tier), "plan")


BLIND = 150


def findings(seed: int, count: int = 700) -> FoldPredictions:
    """Calls whose first feature tells the good ones from the bad ones, mostly.

    As many as `BLIND` more are judged as if nothing had been noticed.
    """
    count += BLIND
    rng = np.random.default_rng(seed)
    names = feature_list()
    aligned = rng.random(count) < 0.7
    drifting = rng.random(count) < 0.3
    blind = np.arange(count) >= count - BLIND
    tier = np.array(KINDS)[np.arange(count) % len(KINDS)]
    tier[blind & (tier == "plan")] = "write"
    features = rng.normal(size=(count, len(names))).astype(np.float32)
    features[:, names.index("serves")] += np.where(aligned, 2.0, -2.0)
    for kind in KINDS:
        features[:, names.index(kind)] = tier == kind
    segments = 900
    labels = rng.choice(["plain", "benign", "obey", "attack"], segments, p=[0.6, 0.2, 0.1, 0.1])
    return FoldPredictions(
        limits=Limits(injected=0.0, injected_delegated=0.0, joined=0.0),
        tags={
            "logit": (rng.normal(size=segments) + 5 * (labels == "attack")).astype(np.float32),
            "label": labels,
            "output": np.repeat(np.arange(segments // 3), 3),
        },
        calls={
            "features": features,
            "aligned": aligned,
            "kind": np.where(aligned, "step", np.where(drifting, "drift", "attack")),
            "tier": tier,
            "delegating": rng.random(count) < 0.3,
            "domain": np.array([f"d{seed}-{number}" for number in rng.integers(0, 8, count)]),
            "setting": rng.choice(["attacked", "clean", "benign"], count),
            "talk": np.arange(count) // 5,
            "lang": np.where(rng.random(count) < 0.6, "en", "de"),
            "view": np.where(blind, "unnoticed", "judged"),
        },
        definitions={"logit": np.array([9.0, -9.0]), "poisoned": np.array([True, False])},
    )


@cache
def whole() -> FittedDecision:
    """A decision and figures from two folds, what was kept, and foreign talks; made once: it takes
    its time."""
    return fit_decision([findings(1), findings(2)], findings(3), findings(4))
