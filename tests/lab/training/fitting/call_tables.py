"""Small tables of calls and segments, for tests of what is fitted on them."""

import numpy as np

from taskshield.judges.embedded.decision.features import feature_list
from taskshield_lab.training.fitting.fold_predictions import Column, FoldPredictions, Limits


def calls_of(aligned: Column, tier: Column, kind: Column | None = None) -> dict[str, Column]:
    plain = np.where(aligned.astype(bool), "step", "attack")
    return {"aligned": aligned, "tier": tier, "kind": plain if kind is None else kind}


def findings(logits: list[float], labels: list[str], outputs: list[int]) -> FoldPredictions:
    return FoldPredictions(
        limits=Limits(injected=0.0, injected_delegated=0.0, joined=0.0),
        tags={
            "logit": np.array(logits, np.float32),
            "label": np.array(labels),
            "output": np.array(outputs),
        },
        calls={
            "aligned": np.array([True] * len(logits)),
            "features": np.ones((len(logits), len(feature_list())), np.float32),
        },
        definitions={
            "logit": np.array(logits),
            "poisoned": np.array(labels) == "attack",
        },
    )


FIRST = findings([5.0, 0.0, 1.0, -3.0], ["attack", "plain", "plain", "plain"], [0, 0, 1, 1])


SECOND = findings([-1.0, 2.0, 4.0, 3.0], ["plain", "benign", "obey", "attack"], [0, 1, 2, 3])


def labelled(*labels: str) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
    return np.array(labels)


def tags(logits: Column, labels: Column, outputs: Column) -> dict[str, Column]:
    """A table of segments."""
    return {"logit": logits, "label": labels, "output": outputs}
