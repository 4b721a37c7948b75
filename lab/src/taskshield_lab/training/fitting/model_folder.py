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
from taskshield.judges.embedded.decision.classifier import sigmoid
from taskshield.judges.embedded.decision.features import related_features
from taskshield.judges.embedded.network.model_files import write_manifest
from taskshield_lab.training.fitting import calibration
from taskshield_lab.training.fitting.calibration import ClassifierFit, Floats
from taskshield_lab.training.fitting.cross_validation import (
    FALSE_DELEGATED,
    FALSE_NEIGHBOURS,
    FALSE_OUTPUTS,
    Column,
    FoldPredictions,
    Limits,
)

ABLATIONS: Mapping[str, tuple[str, ...]] = {
    "the model's opinion on the call": ("serves",),
    "the model's opinion on who asks for it": ("told",),
    "where values come from": (
        "values from",
        "a value",
        "values beside",
        "values instead",
        "new values",
        "user values",
    ),
    "who explains the call's words and values": (
        "values asked",
        "words asked",
        "words told",
        "values told",
    ),
    "risk tier": tuple(tier.value for tier in Tier),
    "order of events": ("fresh", "known"),
    "delegation": ("delegated",),
    "words aside": ("words aside",),
}
"""Groups of features by how their names begin."""
_MODEL = ("serves", "told", "words aside ask", "words aside direct")


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """The decision and how it does on unseen domains and styles."""

    decision: dict[str, Any]
    figures: dict[str, Any]


def assembled(
    findings: Sequence[FoldPredictions],
    kept: FoldPredictions | None = None,
    foreign: FoldPredictions | None = None,
) -> Assembled:
    """Fit the decision on everything that the folds said.

    First what is known of every call, on calls as they were judged; then, on top of that, what
    words aside say, on the same calls also as if nothing had been noticed in the data: for a guard
    that attackers find words for. What a network in alarm makes of them is only told.

    Args:
        findings: Of the folds.
        kept: What the final network said about what no network was taught; only told. Nothing is
            fitted on it, because its attacks are in styles that the network knows.
        foreign: What it said about public conversations; only told.
    """
    calls = calibration.joined(findings)
    rows, aligned = calls["features"].astype(np.float64), calls["aligned"].astype(np.float64)
    counts, seen = calibration.counts(calls), calls["view"] == "judged"
    plans = calls["tier"] == "plan"
    weighed = ~plans & (calls["view"] != "alarmed")
    names = findings[0].names
    plain, aside = np.split(rows, [len(names) - len(related_features())], axis=1)

    said = calibration.crossed(plain, aligned, calls["domain"], counts, learned=seen)
    slope, offset = calibration.curve(said[seen], aligned[seen])
    said = slope * said + offset
    said += calibration.crossed(
        aside, aligned, calls["domain"], counts, given=said, learned=weighed
    )
    # Real plans are worded freely, those of the corpus are not: all that is asked of a plan is
    # whether a directive asks for it more than the user does.
    said[plans] = -rows[plans, names.index("told")]
    limits = calibration.thresholds(said[seen], part(calls, seen))

    known = calibration.fitted(plain[seen], aligned[seen], counts[seen])
    known = ClassifierFit(weights=known.weights * slope, bias=known.bias * slope + offset)
    more = calibration.fitted(
        aside[weighed], aligned[weighed], counts[weighed], known.logits(plain[weighed])
    )
    tags = calibration.stacked_tags(findings)
    planted = calibration.tag_limits(tags)
    weights = np.concatenate([known.weights, more.weights])
    decision = {
        "weights": dict(zip(names, map(float, weights), strict=True)),
        "bias": known.bias,
        "thresholds": {kind: sigmoid(limit) for kind, limit in limits.items()},
        "directive": _directive(tags, planted),
    }
    figures = _figures(said[seen], part(calls, seen), limits, names)
    whole = ClassifierFit(weights=weights, bias=known.bias)
    if kept is not None:
        figures["kept"] = _held(kept, whole, limits)
    if foreign is not None:
        delegating = foreign.calls["delegating"].astype(bool)
        figures["foreign"] = {
            "not delegating": _held(foreign, whole, limits, rows=~delegating),
            "delegating": _held(foreign, whole, limits, rows=delegating),
        }
    figures["directives"] = calibration.tag_figures(tags, planted.planted)
    figures["definitions"] = calibration.definition_figures(findings, planted.planted)
    figures["disturbed"] = calibration.disturbed(said, calls, limits)
    figures["words aside"] = calibration.held_back(said, calls, limits)
    return Assembled(decision=decision, figures=figures)


def _held(
    found: FoldPredictions,
    weigher: ClassifierFit,
    limits: Mapping[str, float],
    rows: Column | None = None,
) -> dict[str, dict[str, float]]:
    """What is held of calls that nothing was fitted on, as judged in use."""
    seen = found.calls["view"] == "judged"
    own = part(found.calls, seen if rows is None else seen & rows)
    said = weigher.logits(own["features"].astype(np.float64))
    return calibration.shares_held(said, own, limits)


def part(calls: Mapping[str, Column], rows: Column) -> dict[str, Column]:
    """Some of the calls."""
    return {name: column[rows] for name, column in calls.items()}


def ship(
    network_onnx: Path,
    tokenizer: Path,
    decision: Mapping[str, Any],
    glance: Path,
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
        shutil.copyfile(glance, made / "glance.npy")
        text = json.dumps(decision, indent=1, ensure_ascii=False)
        (made / "decision.json").write_text(text + "\n", encoding="utf-8")
        write_manifest(made, name, version)
        out.mkdir(exist_ok=True)
        for file in made.iterdir():
            shutil.move(file, out / file.name)


def _directive(tags: Mapping[str, Column], limits: Limits) -> dict[str, float]:
    """From logits of segments to chances, and the chances that count."""
    attack = (tags["label"] == "attack").astype(np.float64)
    slope, offset = calibration.curve(tags["logit"].astype(np.float64), attack)
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
    names: Sequence[str],
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
            "false blocks": dict(calibration.FALSE_BLOCKS),
            "conversations disturbed": calibration.DISTURBED,
        },
        "all": _measured(said, calls),
        "delegating": _measured(said[delegating], part(calls, delegating)),
        "not delegating": _measured(said[~delegating], part(calls, ~delegating)),
        "English data": _measured(said[english], part(calls, english)),
        "data in other languages": _measured(said[~english], part(calls, ~english)),
        "by fold": _by_fold(said, calls),
        "at the thresholds": calibration.at_thresholds(said, calls, limits),
        "calibration": calibration.calibration(said[~plans], calls["aligned"][~plans]),
        "without": _ablated(calls, names),
    }


def _measured(said: Floats, calls: Mapping[str, Column]) -> dict[str, Any]:
    made = calls["tier"] != "plan"
    return {
        "ranking of all calls": calibration.ranked(said[made], calls["aligned"][made]),
        "attacks caught at false blocks of": {
            str(rate): calibration.caught(said, calls, rate) for rate in (0.01, 0.02, 0.05)
        },
        "drift caught at false blocks of": {
            str(rate): calibration.caught(said, calls, rate, kind="drift") for rate in (0.02, 0.05)
        },
        "false blocks at recall of": {
            str(recall): calibration.false_blocks(said, calls, recall)
            for recall in (0.9, 0.95, 0.99)
        },
    }


def _by_fold(said: Floats, calls: Mapping[str, Column]) -> list[dict[str, Any]]:
    rows = [calls["fold"] == number for number in np.unique(calls["fold"])]
    return [_measured(said[one], part(calls, one)) for one in rows]


def _ablated(calls: Mapping[str, Column], names: Sequence[str]) -> dict[str, float]:
    """Attacks caught at 2 % false blocks when a group of features is left out."""
    rows, aligned = calls["features"].astype(np.float64), calls["aligned"].astype(np.float64)
    counts = calibration.counts(calls)

    def left(drop: tuple[str, ...]) -> float:
        kept = [n for n, name in enumerate(names) if not name.startswith(drop)]
        said = calibration.crossed(rows[:, kept], aligned, calls["domain"], counts)
        return calibration.caught(said, calls, 0.02)

    return {
        "nothing": left(("\0",)),
        **{name: left(drop) for name, drop in ABLATIONS.items()},
        "any model": left(_MODEL),
    }
