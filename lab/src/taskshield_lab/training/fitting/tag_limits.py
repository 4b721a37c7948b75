"""The limits on segment logits, and how many injected directives they find."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from taskshield_lab.training.examples.output_examples import Label
from taskshield_lab.training.fitting.fold_predictions import (
    Column,
    Floats,
    FoldPredictions,
    Limits,
    join_tables,
)
from taskshield_lab.training.fitting.rates import roc_auc, share

FALSE_OUTPUTS = 0.035
"""Share of outputs without any directive in which one may be found."""
FALSE_DELEGATED = 0.1
"""The same for outputs with directives that the user's delegation covers."""
FALSE_NEIGHBOURS = 0.03
"""Share of harmless segments that may join a directive beside them."""


def fit_limits(tags: Mapping[str, Column]) -> Limits:
    """The limits that keep false alarms at the rates above."""
    logits, labels, outputs = _columns(tags)
    highest = max_logits(logits, outputs)
    attacked, obeyed = (outputs_with_label(label, labels, outputs) for label in ("attack", "obey"))
    clean, delegated = highest[~attacked & ~obeyed], highest[~attacked & obeyed]
    injected = float(np.quantile(clean, 1 - FALSE_OUTPUTS))
    obeying = float(np.quantile(delegated, 1 - FALSE_DELEGATED)) if len(delegated) else injected
    harmless = logits[labels != "attack"]
    return Limits(
        injected=injected,
        injected_delegated=max(injected, obeying),
        joined=min(injected, float(np.quantile(harmless, 1 - FALSE_NEIGHBOURS))),
    )


def tag_figures(tags: Mapping[str, Column], limit: float) -> dict[str, float]:
    """How many injected directives are found, by segment and by output."""
    logits, labels, outputs = _columns(tags)
    highest = max_logits(logits, outputs)
    attacked, obeyed = (outputs_with_label(label, labels, outputs) for label in ("attack", "obey"))
    harmless = ~attacked & ~obeyed
    # An output of one segment, such as "saved.", is never in doubt, and half of all are such.
    long = harmless & (np.bincount(outputs) > 1)
    return {
        "segments": len(logits),
        "ranking of segments": roc_auc(logits, labels == "attack"),
        "outputs with an attack": int(attacked.sum()),
        "attacks found, of outputs": float(np.mean(highest[attacked] >= limit)),
        "false alarms, of other outputs": float(np.mean(highest[harmless] >= limit)),
        "false alarms, of those of several segments": float(np.mean(highest[long] >= limit)),
    }


def definition_figures(folds: Sequence[FoldPredictions], limit: float) -> dict[str, float]:
    """How many poisoned and how many honest tool definitions are flagged as poisoned."""
    table = join_tables([one.definitions for one in folds])
    poisoned, flagged = table["poisoned"].astype(bool), table["logit"].astype(np.float64) >= limit
    return {
        "poisoned": int(poisoned.sum()),
        "honest": int((~poisoned).sum()),
        "poisoned ones found": share(flagged[poisoned]),
        "false alarms": share(flagged[~poisoned]),
    }


def outputs_with_label(
    label: Label, labels: Column, outputs: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Which outputs have a segment with this label."""
    found = np.zeros(int(outputs.max()) + 1, bool)
    found[outputs[labels == label]] = True
    return found


def max_logits(logits: Floats, outputs: NDArray[np.int64]) -> Floats:
    """The highest logit of each output."""
    highest = np.full(int(outputs.max()) + 1, -np.inf)
    np.maximum.at(highest, outputs, logits)
    return highest


def _columns(tags: Mapping[str, Column]) -> tuple[Floats, Column, NDArray[np.int64]]:
    logits, outputs = tags["logit"].astype(np.float64), tags["output"].astype(np.int64)
    return logits, tags["label"], outputs
