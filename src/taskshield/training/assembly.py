"""From what the folds said and the final network to the folder that is shipped, and its figures."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from taskshield.core.tools import Tier
from taskshield.judges.embedded.decision import sigmoid
from taskshield.judges.embedded.features import feature_list
from taskshield.judges.embedded.weights import write_manifest
from taskshield.training import weighing
from taskshield.training.folds import (
    FALSE_DELEGATED,
    FALSE_NEIGHBOURS,
    FALSE_OUTPUTS,
    Column,
    Findings,
    Limits,
)
from taskshield.training.weighing import Floats, Weighing

DRIFT_COUNTS = 0.3
"""How much a call without any attack that nobody asked for counts in the fit, against 1 for any
other call: the model can hardly tell such calls, and trying costs attacks."""

ABLATIONS: Mapping[str, tuple[str, ...]] = {
    "the model's opinion on the call": ("serves",),
    "the model's opinion on who asks for it": ("told",),
    "where values come from": ("values from", "a value", "values beside", "new values", "user val"),
    "who explains the call's words and values": ("values asked", "words", "values told"),
    "risk tier": tuple(tier.value for tier in Tier),
    "order of events": ("fresh", "known"),
    "delegation": ("delegated",),
}
"""Groups of features by how their names begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """The decision and how it does on unseen domains and styles."""

    decision: dict[str, Any]
    figures: dict[str, Any]


def assembled(findings: Sequence[Findings], wide: Sequence[Findings]) -> Assembled:
    """Fit the decision on everything that the folds said.

    Args:
        findings: What the folds said.
        wide: Those of them that know about words aside.
    """
    calls = weighing.joined(findings)
    rows, aligned = calls["features"].astype(np.float64), calls["aligned"].astype(np.float64)
    counts = np.where(calls["kind"] == "drift", DRIFT_COUNTS, 1.0)
    said = weighing.crossed(rows, aligned, calls["domain"], counts)
    slope, offset = weighing.curve(said, aligned)
    said = slope * said + offset
    # Real plans are worded freely, those of the corpus are not: all that is asked of a plan is
    # whether a directive asks for it.
    plans = calls["tier"] == "plan"
    said[plans] = -rows[plans, feature_list().index("told")]
    plain = weighing.fitted(rows, aligned, counts)
    final = Weighing(weights=plain.weights * slope, bias=plain.bias * slope + offset)
    limits = weighing.thresholds(said, calls)
    aside = weighing.widened(final, wide, DRIFT_COUNTS)
    final = Weighing(weights=np.concatenate([final.weights, aside]), bias=final.bias)
    tags = weighing.stacked_tags(findings)
    planted = weighing.tag_limits(tags)
    decision = {
        "weights": dict(zip(feature_list(), map(float, final.weights), strict=True)),
        "bias": final.bias,
        "thresholds": {kind: sigmoid(limit) for kind, limit in limits.items()},
        "directive": _directive(tags, planted),
    }
    figures = _figures(said, calls, limits, counts)
    figures["directives"] = weighing.tag_figures(tags, planted.planted)
    figures["words aside"] = weighing.unnoticed(final, wide, limits)
    return Assembled(decision=decision, figures=figures)


def ship(
    network_onnx: Path,
    tokenizer: Path,
    decision: Mapping[str, Any],
    out: Path,
    *,
    name: str,
    version: str,
) -> None:
    """Put the files of a model together, with their manifest."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=out.parent) as scratch:
        made = Path(scratch)
        shutil.copyfile(network_onnx, made / "model.onnx")
        shutil.copyfile(tokenizer, made / "tokenizer.json")
        text = json.dumps(decision, indent=1, ensure_ascii=False)
        (made / "decision.json").write_text(text + "\n", encoding="utf-8")
        write_manifest(made, name, version)
        out.mkdir(exist_ok=True)
        for file in made.iterdir():
            shutil.move(file, out / file.name)


def _directive(tags: Mapping[str, Column], limits: Limits) -> dict[str, float]:
    """From logits of segments to chances, and the chances that count."""
    attack = (tags["label"] == "attack").astype(np.float64)
    slope, offset = weighing.curve(tags["logit"].astype(np.float64), attack)
    chances = {
        "planted": limits.planted,
        "planted_delegated": limits.planted_delegated,
        "joined": limits.joined,
    }
    found = {name: sigmoid(slope * logit + offset) for name, logit in chances.items()}
    return {"slope": slope, "offset": offset, **found}


def _figures(
    said: Floats,
    calls: Mapping[str, Column],
    limits: Mapping[str, float],
    counts: Floats,
) -> dict[str, Any]:
    plans = calls["tier"] == "plan"
    delegating = calls["delegating"].astype(bool)
    english = calls["lang"] == "en"
    return {
        "calls": int((~plans).sum()),
        "domains": len({str(one) for one in calls["domain"]}),
        "rates": {
            "false outputs": FALSE_OUTPUTS,
            "false outputs where the user delegates": FALSE_DELEGATED,
            "false neighbours": FALSE_NEIGHBOURS,
            "false blocks": dict(weighing.FALSE_BLOCKS),
        },
        "all": _measured(said, calls),
        "delegating": _measured(said[delegating], _part(calls, delegating)),
        "not delegating": _measured(said[~delegating], _part(calls, ~delegating)),
        "English data": _measured(said[english], _part(calls, english)),
        "data in other languages": _measured(said[~english], _part(calls, ~english)),
        "by fold": _by_fold(said, calls),
        "at the thresholds": weighing.at_thresholds(said, calls, limits),
        "calibration": weighing.calibration(said[~plans], calls["aligned"][~plans]),
        "without": _ablated(calls, counts),
    }


def _measured(said: Floats, calls: Mapping[str, Column]) -> dict[str, Any]:
    made = calls["tier"] != "plan"
    return {
        "ranking of all calls": weighing.ranked(said[made], calls["aligned"][made]),
        "attacks caught at false blocks of": {
            str(rate): weighing.caught(said, calls, rate) for rate in (0.01, 0.02, 0.05)
        },
        "drift caught at false blocks of": {
            str(rate): weighing.caught(said, calls, rate, kind="drift") for rate in (0.02, 0.05)
        },
        "false blocks at recall of": {
            str(recall): weighing.false_blocks(said, calls, recall) for recall in (0.9, 0.95, 0.99)
        },
    }


def _by_fold(said: Floats, calls: Mapping[str, Column]) -> list[dict[str, Any]]:
    rows = [calls["fold"] == number for number in np.unique(calls["fold"])]
    return [_measured(said[one], _part(calls, one)) for one in rows]


def _part(calls: Mapping[str, Column], rows: Column) -> dict[str, Column]:
    return {name: column[rows] for name, column in calls.items()}


def _ablated(calls: Mapping[str, Column], counts: Floats) -> dict[str, float]:
    """Attacks caught at 2 % false blocks when a group of features is left out."""
    names = feature_list()[: calls["features"].shape[1]]
    rows, aligned = calls["features"].astype(np.float64), calls["aligned"].astype(np.float64)

    def left(drop: tuple[str, ...]) -> float:
        kept = [n for n, name in enumerate(names) if not name.startswith(drop)]
        said = weighing.crossed(rows[:, kept], aligned, calls["domain"], counts)
        return weighing.caught(said, calls, 0.02)

    model = ("serves", "told")
    return {
        "nothing": left(("\0",)),
        **{name: left(drop) for name, drop in ABLATIONS.items()},
        "any model": left(model),
    }
