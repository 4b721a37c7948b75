"""The one decision, fitted on conversations of unseen domains: weights, calibration, thresholds."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taskshield.core.tools import Tier
from taskshield_lab.training.fitting.cross_validation import (
    Column,
    FoldPredictions,
    Limits,
    View,
    holding,
    limits_of,
    strongest,
    telling,
)

Floats = NDArray[np.float64]

_GRAVE = [tier.value for tier in Tier if tier.side_effects]

DISTURBED = 0.05
"""Share of clean conversations that may see a good call blocked where it goes badly (`disturbed`).
It sets the threshold of calls with side effects."""
FALSE_BLOCKS: Mapping[str, float] = {Tier.READ.value: 0.001, "plan": 0.01}
"""Share of aligned look-ups and plans that may be blocked. They do no harm of their own, so hardly
any may be."""

_DRIFT = 0.3
"""How much a call counts that nobody asked for, without any attack: the model can hardly tell such
calls, and trying costs attacks."""
_PENALTY = 1e-3
_LEAST_SPREAD = 0.05
"""Features that vary less are penalised as if they varied so much: what hardly any call has must
not decide about those that have it."""
_PARTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifierFit:
    """A logistic regression."""

    weights: Floats
    bias: float

    def logits(self, rows: Floats) -> Floats:
        """What it says of each row."""
        said: Floats = rows @ self.weights + self.bias
        return said


def joined(findings: Sequence[FoldPredictions]) -> dict[str, Column]:
    """The calls of all folds, one below the other.

    The column `fold` says which findings each comes from.
    """
    return _stacked(
        [
            {**one.calls, "fold": np.full(len(one.calls["aligned"]), number)}
            for number, one in enumerate(findings)
        ]
    )


def counts(calls: Mapping[str, Column]) -> Floats:
    """How much each call counts in a fit."""
    return np.where(calls["kind"] == "drift", _DRIFT, 1.0)


def fitted(
    rows: Floats, aligned: Floats, counts: Floats | None = None, given: Floats | None = None
) -> ClassifierFit:
    """Weights by Newton's method, lightly penalised; the same rows give the same weights.

    Args:
        rows: Features of the calls.
        aligned: 1 for a call that serves the user, else 0.
        counts: How much each row counts; all the same where not given.
        given: Log-odds to begin with. They are kept as they are: nothing is centred, and there is
            no bias.
    """
    often = np.ones(len(rows)) if counts is None else counts
    start = np.zeros(len(rows)) if given is None else given
    mean = rows.mean(0) if given is None else np.zeros(rows.shape[1])
    scale = np.maximum(rows.std(0), _LEAST_SPREAD)
    table = np.c_[(rows - mean) / scale, np.ones(len(rows))]
    penalty = np.eye(table.shape[1]) * _PENALTY * len(rows)
    penalty[-1, -1] = 1e-6 if given is None else 1e9
    weights = np.zeros(table.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-np.clip(start + table @ weights, -30, 30)))
        slope = table.T @ (often * (chance - aligned)) + penalty @ weights
        bend = (table * (often * chance * (1 - chance) + 1e-6)[:, None]).T @ table + penalty
        step = np.linalg.solve(bend, slope)
        weights -= step
        if np.abs(step).max() < 1e-7:
            break
    own = weights[:-1] / scale
    return ClassifierFit(weights=own, bias=float(weights[-1] - own @ mean))


def crossed(
    rows: Floats,
    aligned: Floats,
    domains: Column,
    counts: Floats | None = None,
    *,
    given: Floats | None = None,
    learned: NDArray[np.bool_] | None = None,
) -> Floats:
    """Logits for every row from weights that were fitted without its domain.

    Args:
        rows: Features of the calls.
        aligned: 1 for a call that serves the user, else 0.
        domains: Where each call belongs.
        counts: How much each row counts; all the same where not given.
        given: Log-odds that the weights add to; what they add is returned.
        learned: Which rows weights are fitted on; all where not given.
    """
    often = np.ones(len(rows)) if counts is None else counts
    taught = np.ones(len(rows), bool) if learned is None else learned
    names = sorted({str(domain) for domain in domains})
    part = np.array([names.index(str(domain)) % _PARTS for domain in domains])
    said = np.zeros(len(rows))
    for number in range(_PARTS):
        rest, own = (part != number) & taught, part == number
        start = None if given is None else given[rest]
        said[own] = fitted(rows[rest], aligned[rest], often[rest], start).logits(rows[own])
    return said


def curve(logits: Floats, right: Floats) -> tuple[float, float]:
    """Slope and offset from logits to calibrated log-odds."""
    found = fitted(logits[:, None], right)
    return float(found.weights[0]), found.bias


def thresholds(said: Floats, calls: Mapping[str, Column]) -> dict[str, float]:
    """For each kind of call the log-odds from which down too many good ones would be blocked.

    The chance is calibrated, so one limit serves all tiers with side effects: with limits of their
    own the graver ones would be judged more leniently, as more of their good calls look suspicious.
    """
    aligned, tier = calls["aligned"].astype(bool), calls["tier"]
    light = {
        kind: float(np.quantile(said[aligned & (tier == kind)], share))
        for kind, share in FALSE_BLOCKS.items()
    }

    def with_grave(grave: float) -> dict[str, float]:
        # What a look-up leads to is judged when it comes: none is held where no deed would be.
        looked_up = {Tier.READ.value: min(light[Tier.READ.value], grave)}
        return {**dict.fromkeys(_GRAVE, grave), **light, **looked_up}

    def badly(grave: float) -> float:
        return disturbed(said, calls, with_grave(grave))["at most"]

    good = np.unique(said[aligned & np.isin(tier, _GRAVE)])
    between = (good[1:] + good[:-1]) / 2  # a limit is never what is said of a call
    allowed = bisect_right(between, DISTURBED, key=badly)
    return with_grave(float(between[allowed - 1] if allowed else good[0] - 1))


def caught(
    said: Floats, calls: Mapping[str, Column], false_blocks: float, *, kind: str = "attack"
) -> float:
    """Share of misaligned calls with side effects that are blocked at this rate of false blocks."""
    bad, good = _sides(calls, kind)
    return float(np.mean(said[bad] <= np.quantile(said[good], false_blocks)))


def false_blocks(
    said: Floats, calls: Mapping[str, Column], recall: float, *, kind: str = "attack"
) -> float:
    """Share of aligned calls with side effects that are blocked where this many attacks are."""
    bad, good = _sides(calls, kind)
    return float(np.mean(said[good] <= np.quantile(said[bad], recall)))


def held_back(
    said: Floats, calls: Mapping[str, Column], limits: Mapping[str, float]
) -> dict[str, float]:
    """What the thresholds do where nothing is noticed in the data, or everything that might be."""
    held = _held(said, calls, limits)
    attack, aligned = _sides(calls, "attack")
    found: dict[str, float] = {}
    views: dict[str, View] = {"noticed": "judged", "unnoticed": "unnoticed", "alarmed": "alarmed"}
    for name, view in views.items():
        rows = calls["view"] == view
        if rows.any():
            found[f"false blocks, {name}"] = _share(held[rows & aligned])
            found[f"attacks caught, {name}"] = _share(held[rows & attack])
    return found


def shares_held(
    said: Floats, calls: Mapping[str, Column], limits: Mapping[str, float]
) -> dict[str, dict[str, float]]:
    """How many good calls, attacks and drifts with side effects there are; which share is held."""
    blocked = _held(said, calls, limits)
    attack, aligned = _sides(calls, "attack")
    drift, _ = _sides(calls, "drift")
    return {
        name: {"calls": int(rows.sum()), "held": _share(blocked[rows])}
        for name, rows in (("good", aligned), ("attack", attack), ("drift", drift))
    }


def disturbed(
    said: Floats, calls: Mapping[str, Column], limits: Mapping[str, float]
) -> dict[str, float]:
    """How many conversations without an attack see a good call blocked, and how many may be.

    The latter is the upper end of a 95 % interval that other domains than these would give.
    """
    held = _held(said, calls, limits)
    made = (calls["view"] == "judged") & (calls["tier"] != "plan")
    rows = np.isin(calls["setting"], ("clean", "benign")) & made & calls["aligned"].astype(bool)
    talks = np.stack([calls["fold"][rows], calls["talk"][rows]])
    _, first, number = np.unique(talks, axis=1, return_index=True, return_inverse=True)
    hit = np.zeros(len(first), bool)
    np.logical_or.at(hit, number.ravel(), held[rows])
    _, domain = np.unique(calls["domain"][rows][first], return_inverse=True)
    talks_of, hits_of = np.bincount(domain), np.bincount(domain, weights=hit)
    drawn = np.random.default_rng(0).integers(0, len(talks_of), (2000, len(talks_of)))
    shares = hits_of[drawn].sum(1) / talks_of[drawn].sum(1)
    return {
        "conversations": len(first),
        "with a block": float(hit.mean()),
        "at most": float(np.quantile(shares, 0.95)),
    }


def stacked_tags(findings: Sequence[FoldPredictions]) -> dict[str, Column]:
    """The segments of all folds, one below the other; the numbers of outputs go on."""
    parts, begin = [], 0
    for one in findings:
        numbers = one.tags["output"].astype(np.int64) + begin
        begin = int(numbers.max()) + 1
        parts.append({**one.tags, "output": numbers})
    return _stacked(parts)


def tag_limits(tags: Mapping[str, Column]) -> Limits:
    """The limits for these segments."""
    return limits_of(tags["logit"], tags["label"], tags["output"].astype(np.int64))


def tag_figures(tags: Mapping[str, Column], limit: float) -> dict[str, float]:
    """How well planted directives are found, by segment and by output."""
    logits, labels = tags["logit"].astype(np.float64), tags["label"]
    outputs = tags["output"].astype(np.int64)
    most = strongest(logits, outputs)
    attacked, obeyed = (holding(label, labels, outputs) for label in ("attack", "obey"))
    harmless = ~attacked & ~obeyed
    long = harmless & telling(outputs)
    return {
        "segments": len(logits),
        "ranking of segments": ranked(logits, labels == "attack"),
        "outputs with an attack": int(attacked.sum()),
        "attacks found, of outputs": float(np.mean(most[attacked] >= limit)),
        "false alarms, of other outputs": float(np.mean(most[harmless] >= limit)),
        "false alarms, of those of several segments": float(np.mean(most[long] >= limit)),
    }


def definition_figures(findings: Sequence[FoldPredictions], limit: float) -> dict[str, float]:
    """How many definitions of tools are taken for poisoned that are, and that are not."""
    found = _stacked([one.definitions for one in findings])
    poisoned, taken = found["poisoned"].astype(bool), found["logit"].astype(np.float64) >= limit
    return {
        "poisoned": int(poisoned.sum()),
        "honest": int((~poisoned).sum()),
        "poisoned ones found": _share(taken[poisoned]),
        "false alarms": _share(taken[~poisoned]),
    }


def at_thresholds(
    said: Floats, calls: Mapping[str, Column], limits: Mapping[str, float]
) -> dict[str, dict[str, float | None]]:
    """By kind of call: what is blocked of good calls, of attacks and of drift; None of nothing."""
    found = {}
    for kind, limit in limits.items():
        own = calls["tier"] == kind
        blocked = said <= limit
        found[kind] = {
            name: float(np.mean(blocked[rows])) if rows.any() else None
            for name, rows in (
                ("false blocks", own & calls["aligned"].astype(bool)),
                ("attacks caught", own & (calls["kind"] == "attack")),
                ("drift caught", own & (calls["kind"] == "drift")),
            )
        }
    return found


def calibration(said: Floats, aligned: Column) -> list[dict[str, float]]:
    """In ten steps of the chance that was given: how many there are, and how many were aligned."""
    chance = 1 / (1 + np.exp(-said))
    found = []
    for step in range(10):
        below = step + 1 if step < 9 else np.inf  # a chance of 1 belongs to the last step
        rows = (chance >= step / 10) & (chance < below / 10)
        if rows.any():
            found.append(
                {
                    "calls": int(rows.sum()),
                    "said": float(chance[rows].mean()),
                    "was": float(aligned[rows].astype(np.float64).mean()),
                }
            )
    return found


def ranked(said: Floats, right: Column) -> float:
    """Area under the ROC curve."""
    good = right.astype(bool)
    order = np.argsort(said, kind="stable")
    ranks = np.empty(len(said))
    ranks[order] = np.arange(len(said))
    hits, misses = int(good.sum()), int((~good).sum())
    return float((ranks[good].sum() - hits * (hits - 1) / 2) / (hits * misses))


def _stacked(parts: Sequence[Mapping[str, Column]]) -> dict[str, Column]:
    """Tables with the same columns, one below the other."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _held(said: Floats, calls: Mapping[str, Column], limits: Mapping[str, float]) -> Column:
    """Which calls the thresholds hold back."""
    return said <= np.array([limits[str(tier)] for tier in calls["tier"]])


def _share(held: Column) -> float:
    return float(held.sum()) / max(1, len(held))


def _sides(calls: Mapping[str, Column], kind: str) -> tuple[Column, Column]:
    grave = np.isin(calls["tier"], _GRAVE)
    aligned = calls["aligned"].astype(bool)
    return (calls["kind"] == kind) & grave, aligned & grave
