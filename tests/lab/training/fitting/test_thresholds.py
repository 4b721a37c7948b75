import numpy as np
import pytest
from scipy.stats import bootstrap

from taskshield.core.tools import Tier
from taskshield_lab.training.fitting.fold_predictions import Column, Floats
from taskshield_lab.training.fitting.thresholds import (
    DISTURBED,
    FALSE_BLOCKS,
    disturbed_conversations,
    fit_thresholds,
)
from tests.lab.training.fitting.call_tables import calls_of

GRAVE = [tier.value for tier in Tier if tier.side_effects]


def many(seed: int = 3) -> tuple[Floats, dict[str, Column]]:
    """Calls of all kinds, two in a conversation; of the gravest tier good ones look suspicious."""
    rng = np.random.default_rng(seed)
    tier = np.tile([*GRAVE, *FALSE_BLOCKS], 4000)
    aligned = rng.random(len(tier)) < 0.7
    logits = rng.normal(size=len(tier)) + np.where(aligned, 3.0, -3.0)
    logits[tier == Tier.ACCESS.value] -= 1.0
    logits[tier == Tier.WRITE.value] += 1.0
    conversation = np.arange(len(tier)) // 2
    return logits, {
        **calls_of(aligned, tier),
        "fold": np.zeros(len(tier), int),
        "talk": conversation,
        "domain": (conversation % 50).astype(str),
        "setting": np.where(conversation % 3, "clean", "attacked"),
        "view": np.full(len(tier), "judged"),
    }


def test_there_is_a_threshold_for_every_kind_of_call() -> None:
    logits, calls = many()
    assert fit_thresholds(logits, calls).keys() == {*(tier.value for tier in Tier), "plan"}


def test_thresholds_give_the_false_blocks_that_are_allowed() -> None:
    logits, calls = many()
    found = fit_thresholds(logits, calls)
    aligned, tier = calls["aligned"].astype(bool), calls["tier"]
    for kind, share in FALSE_BLOCKS.items():
        own = logits[aligned & (tier == kind)]
        assert np.mean(own <= found[kind]) == pytest.approx(share, abs=5e-4)


def test_calls_with_side_effects_are_blocked_as_far_as_conversations_may_be_disturbed() -> None:
    logits, calls = many()
    found = fit_thresholds(logits, calls)
    good = logits[calls["aligned"].astype(bool) & np.isin(calls["tier"], GRAVE)]
    further = {**found, **dict.fromkeys(GRAVE, np.sort(good[good > found["write"]])[5])}
    assert disturbed_conversations(logits, calls, found)["at most"] <= DISTURBED
    assert disturbed_conversations(logits, calls, further)["at most"] > DISTURBED


def test_no_good_call_is_blocked_where_one_conversation_would_be_too_many() -> None:
    logits, calls = many()
    few = {name: column[:70] for name, column in calls.items()}
    good = logits[:70][few["aligned"].astype(bool) & np.isin(few["tier"], GRAVE)]
    assert fit_thresholds(logits[:70], few)["write"] < good.min()


def test_tiers_with_side_effects_have_one_threshold() -> None:
    found = fit_thresholds(*many())
    assert len({found[kind] for kind in GRAVE}) == 1


def test_read_calls_are_not_judged_harder_than_others() -> None:
    logits, calls = many()
    logits[calls["tier"] == Tier.READ.value] += 9.0  # so that hardly any good one looks suspicious
    found = fit_thresholds(logits, calls)
    assert found[Tier.READ.value] == min(found[kind] for kind in GRAVE)


def test_conversations_are_disturbed_where_one_good_call_of_theirs_is_blocked() -> None:
    calls: dict[str, Column] = {
        "fold": np.array([0, 0, 0, 1, 1, 1, 1, 1]),
        "talk": np.array([0, 0, 1, 0, 0, 2, 3, -1]),
        "domain": np.array(["a", "a", "b", "c", "c", "c", "c", "c"]),
        "setting": np.array(["clean"] * 3 + ["benign"] * 2 + ["attacked", "clean", "clean"]),
        "tier": np.array(["write", "read", "write", "plan", "write", "write", "write", "write"]),
        "aligned": np.array([True, True, True, True, True, True, False, True]),
        "view": np.where(np.arange(8) == 7, "unnoticed", "judged"),
    }
    logits = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0, -1.0, -1.0])
    found = disturbed_conversations(logits, calls, {"write": 0.0, "read": 0.0, "plan": 0.0})
    assert found["conversations"] == 3 and found["with a block"] == pytest.approx(1 / 3)
    assert 1 / 3 < found["at most"] <= 1.0


def test_the_interval_is_that_of_scipy() -> None:
    logits, calls = many()
    found = disturbed_conversations(logits, calls, fit_thresholds(logits, calls))
    clean = (
        (calls["setting"] == "clean") & calls["aligned"].astype(bool) & (calls["tier"] != "plan")
    )
    limits = fit_thresholds(logits, calls)
    blocked = logits <= np.array([limits[str(tier)] for tier in calls["tier"]])
    number = calls["talk"].astype(int)
    seen = np.unique(number[clean])
    hit = np.isin(seen, number[clean & blocked])
    domains = np.array([sorted({str(n % 50) for n in range(50)}).index(str(n % 50)) for n in seen])
    interval = bootstrap(
        (np.bincount(domains, weights=hit), np.bincount(domains)),
        lambda hits, sizes, axis: hits.sum(axis) / sizes.sum(axis),
        paired=True,
        n_resamples=2000,
        method="percentile",
        alternative="less",
        rng=np.random.default_rng(0),
    ).confidence_interval
    assert found["at most"] == pytest.approx(interval.high)
