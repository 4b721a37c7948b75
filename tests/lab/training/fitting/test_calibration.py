import numpy as np
import pytest

from taskshield.core.tools import Tier
from taskshield.judges.embedded.decision.features import feature_list
from taskshield_lab.training.fitting.calibration import (
    DISTURBED,
    FALSE_BLOCKS,
    Floats,
    at_thresholds,
    calibration,
    caught,
    counts,
    crossed,
    curve,
    definition_figures,
    disturbed,
    false_blocks,
    fitted,
    held_back,
    joined,
    ranked,
    stacked_tags,
    tag_figures,
    tag_limits,
    thresholds,
)
from taskshield_lab.training.fitting.cross_validation import (
    Column,
    FoldPredictions,
    Limits,
    limits_of,
)

GRAVE = [tier.value for tier in Tier if tier.side_effects]


def drawn(rows: Floats, weights: Floats, bias: float, seed: int = 0) -> Floats:
    """Labels that a logistic model with these weights would give."""
    chance = 1 / (1 + np.exp(-(rows @ weights + bias)))
    return (np.random.default_rng(seed).random(len(rows)) < chance).astype(np.float64)


def some_rows(count: int, width: int, seed: int = 1) -> Floats:
    return np.random.default_rng(seed).normal(size=(count, width))


def test_known_weights_are_found_again() -> None:
    rows = some_rows(40_000, 3) * np.array([1.0, 5.0, 0.1]) + np.array([0.0, 2.0, 1.0])
    weights = np.array([1.5, -0.3, 6.0])
    found = fitted(rows, drawn(rows, weights, -5.0))
    np.testing.assert_allclose(found.weights, weights, rtol=0.08)
    assert found.bias == pytest.approx(-5.0, rel=0.08)
    np.testing.assert_array_equal(found.logits(rows), rows @ found.weights + found.bias)


def test_the_same_rows_give_the_same_weights() -> None:
    rows = some_rows(500, 4)
    aligned = drawn(rows, np.ones(4), 0.0)
    one, same = fitted(rows, aligned), fitted(rows, aligned)
    assert one.bias == same.bias and (one.weights == same.weights).all()


def test_rows_that_can_be_told_apart_without_error_do_not_break_the_fit() -> None:
    rows = np.r_[np.full((50, 1), -1.0), np.full((50, 1), 1.0)]
    found = fitted(rows, (rows[:, 0] > 0).astype(np.float64))
    assert np.isfinite(found.weights).all() and found.weights[0] > 1


def test_a_feature_that_never_changes_has_no_say() -> None:
    rows = np.c_[some_rows(500, 1), np.full(500, 3.0)]
    found = fitted(rows, drawn(rows, np.array([1.0, 0.0]), 0.0))
    assert abs(found.weights[1] * 3.0) < 1e-3


def test_a_feature_that_hardly_any_row_has_has_hardly_any_say() -> None:
    rng = np.random.default_rng(1)
    rows = np.c_[rng.normal(size=150_000), np.zeros(150_000)]
    aligned = (rows[:, 0] + rng.normal(size=150_000) > -1).astype(np.float64)
    rows[np.flatnonzero(aligned == 0)[:2], 1] = 0.3
    found = fitted(rows, aligned)
    assert found.weights[0] > 1 and abs(found.weights[1]) < 2


def test_a_row_that_counts_for_nothing_changes_hardly_anything() -> None:
    rows = some_rows(400, 2)
    aligned = drawn(rows, np.array([1.0, -1.0]), 0.0)
    counts = np.where(np.arange(400) < 300, 1.0, 0.0)
    spoilt = np.where(counts > 0, aligned, 1 - aligned)
    one, other = fitted(rows, aligned, counts), fitted(rows, spoilt, counts)
    np.testing.assert_allclose(one.weights, other.weights, atol=1e-6)


def test_crossed_logits_come_from_other_domains() -> None:
    """Weights that were fitted with a row's own domain would give another logit."""
    rows = some_rows(600, 2)
    domains = np.array([f"d{number % 7}" for number in range(600)])
    aligned = drawn(rows, np.array([1.0, 1.0]), 0.0)
    said = crossed(rows, aligned, domains)
    for name in ("d0", "d3", "d6"):
        own = domains == name
        spoilt = np.where(own, 1 - aligned, aligned)
        np.testing.assert_array_equal(crossed(rows, spoilt, domains)[own], said[own])
        assert not np.array_equal(crossed(rows, spoilt, domains)[~own], said[~own])


def test_a_feature_that_gives_a_domains_labels_away_does_not_help() -> None:
    count, domains = 2000, 10
    rng = np.random.default_rng(4)
    domain = rng.integers(0, domains, count)
    aligned = (rng.random(count) < 0.5).astype(np.float64)
    poison = np.zeros((count, domains))
    poison[np.arange(count), domain] = 2 * aligned - 1  # each domain's labels, in its own column
    names = np.array([f"d{number}" for number in domain])
    rows = np.c_[poison, rng.normal(size=(count, 1))]
    cheating = fitted(rows, aligned).logits(rows)
    assert ranked(cheating, aligned) > 0.99
    assert ranked(crossed(rows, aligned, names), aligned) == pytest.approx(0.5, abs=0.06)


def test_a_curve_makes_logits_calibrated() -> None:
    logits = some_rows(30_000, 1)[:, 0] * 3
    right = drawn(logits[:, None], np.array([0.5]), 1.0)
    slope, offset = curve(logits, right)
    assert slope == pytest.approx(0.5, rel=0.06) and offset == pytest.approx(1.0, rel=0.06)


def calls_of(aligned: Column, tier: Column, kind: Column | None = None) -> dict[str, Column]:
    plain = np.where(aligned.astype(bool), "step", "attack")
    return {"aligned": aligned, "tier": tier, "kind": plain if kind is None else kind}


def many(seed: int = 3) -> tuple[Floats, dict[str, Column]]:
    """Calls of all kinds, two in a conversation; of the gravest tier good ones look suspicious."""
    rng = np.random.default_rng(seed)
    tier = np.tile([*GRAVE, *FALSE_BLOCKS], 4000)
    aligned = rng.random(len(tier)) < 0.7
    said = rng.normal(size=len(tier)) + np.where(aligned, 3.0, -3.0)
    said[tier == Tier.ACCESS.value] -= 1.0
    said[tier == Tier.WRITE.value] += 1.0
    talk = np.arange(len(tier)) // 2
    return said, {
        **calls_of(aligned, tier),
        "fold": np.zeros(len(tier), int),
        "talk": talk,
        "domain": (talk % 50).astype(str),
        "setting": np.where(talk % 3, "clean", "attacked"),
        "view": np.full(len(tier), "judged"),
    }


def test_there_is_a_threshold_for_every_kind_of_call() -> None:
    said, calls = many()
    assert thresholds(said, calls).keys() == {*(tier.value for tier in Tier), "plan"}


def test_thresholds_give_the_false_blocks_that_were_asked_for() -> None:
    said, calls = many()
    found = thresholds(said, calls)
    aligned, tier = calls["aligned"].astype(bool), calls["tier"]
    for kind, share in FALSE_BLOCKS.items():
        own = said[aligned & (tier == kind)]
        assert np.mean(own <= found[kind]) == pytest.approx(share, abs=5e-4)


def test_deeds_are_held_as_far_as_conversations_may_be_disturbed() -> None:
    said, calls = many()
    found = thresholds(said, calls)
    good = said[calls["aligned"].astype(bool) & np.isin(calls["tier"], GRAVE)]
    further = {**found, **dict.fromkeys(GRAVE, np.sort(good[good > found["write"]])[5])}
    assert disturbed(said, calls, found)["at most"] <= DISTURBED
    assert disturbed(said, calls, further)["at most"] > DISTURBED


def test_no_good_deed_is_held_where_one_conversation_would_be_too_many() -> None:
    said, calls = many()
    few = {name: column[:70] for name, column in calls.items()}
    good = said[:70][few["aligned"].astype(bool) & np.isin(few["tier"], GRAVE)]
    assert thresholds(said[:70], few)["write"] < good.min()


def test_tiers_with_side_effects_have_one_threshold() -> None:
    found = thresholds(*many())
    assert len({found[kind] for kind in GRAVE}) == 1


def test_no_look_up_is_held_where_no_deed_would_be() -> None:
    said, calls = many()
    said[calls["tier"] == Tier.READ.value] += 9.0  # so that hardly any good one looks suspicious
    found = thresholds(said, calls)
    assert found[Tier.READ.value] == min(found[kind] for kind in GRAVE)


SAID = np.array([-4.0, -3.0, -2.0, 0.5, 1.0, -1.0, 0.0, 1.0, 2.0, 3.0, -9.0, -9.0])
"""Five attacks, five aligned calls, an attack that only reads, an aligned look-up."""
CALLS = calls_of(
    np.array([False] * 5 + [True] * 5 + [False, True]),
    np.array(["write", "external"] * 5 + ["read", "read"]),
)


def test_attacks_caught_are_counted_among_calls_with_side_effects() -> None:
    assert caught(SAID, CALLS, 0.0) == 3 / 5  # nothing above the lowest aligned call, -1
    assert caught(SAID, CALLS, 0.5) == 5 / 5  # the aligned calls' median is 1
    assert caught(SAID, CALLS, 0.25) == 3 / 5  # their lower quartile is 0


def test_false_blocks_are_counted_where_so_many_attacks_are_caught() -> None:
    assert false_blocks(SAID, CALLS, 0.5) == 0.0
    assert false_blocks(SAID, CALLS, 0.75) == 2 / 5
    assert false_blocks(SAID, CALLS, 1.0) == 3 / 5


def test_drift_is_counted_apart_from_attacks() -> None:
    kind = np.array(["attack"] * 3 + ["drift"] * 2 + ["step"] * 5 + ["attack", "step"])
    calls = {**CALLS, "kind": kind}
    assert caught(SAID, calls, 0.0) == 1.0
    assert caught(SAID, calls, 0.0, kind="drift") == 0.0
    assert false_blocks(SAID, calls, 1.0, kind="drift") == 3 / 5


def test_ranking_is_the_chance_that_a_good_call_is_above_a_bad_one() -> None:
    right = np.array([True, False, True, False])
    assert ranked(np.array([4.0, 3.0, 2.0, 1.0]), right) == 3 / 4
    assert ranked(np.array([4.0, 1.0, 3.0, 2.0]), right) == 1.0
    assert ranked(np.array([1.0, 4.0, 2.0, 3.0]), right) == 0.0


def test_figures_at_the_thresholds_are_told_by_kind() -> None:
    kind = np.array(["attack"] * 4 + ["drift"] + ["step"] * 5 + ["attack", "step"])
    found = at_thresholds(
        SAID, {**CALLS, "kind": kind}, {"write": 0.5, "external": -5.0, "plan": 0}
    )
    assert found["write"] == {"false blocks": 0.5, "attacks caught": 1.0, "drift caught": 0.0}
    assert found["external"]["attacks caught"] == 0.0
    assert found["external"]["drift caught"] is None
    assert set(found["plan"].values()) == {None}


def test_calibration_tells_what_was_said_and_what_was() -> None:
    chance = np.array([0.05, 0.05, 0.95, 0.95, 0.95, 0.55])
    said = np.log(chance / (1 - chance))
    found = calibration(said, np.array([False, False, True, True, False, True]))
    assert [one["calls"] for one in found] == [2, 1, 3]
    assert [one["said"] for one in found] == pytest.approx([0.05, 0.55, 0.95])
    assert [one["was"] for one in found] == pytest.approx([0.0, 1.0, 2 / 3])


def test_calibration_leaves_out_no_call_however_sure() -> None:
    said = np.array([-50.0, -1.0, 0.0, 1.0, 50.0, 700.0])
    found = calibration(said, np.ones(6))
    assert sum(one["calls"] for one in found) == 6


def findings(logits: list[float], labels: list[str], outputs: list[int]) -> FoldPredictions:
    return FoldPredictions(
        limits=Limits(planted=0.0, planted_delegated=0.0, joined=0.0),
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


def test_folds_are_put_one_below_the_other() -> None:
    found = joined([FIRST, SECOND])
    assert found["features"].shape == (8, len(feature_list()))
    assert found["fold"].tolist() == [0] * 4 + [1] * 4


def test_drift_counts_less() -> None:
    calls: dict[str, Column] = {"kind": np.array(["step", "drift", "attack", "drift"])}
    assert counts(calls).tolist() == pytest.approx([1.0, 0.3, 1.0, 0.3])


def test_weights_on_top_of_others_are_found_again() -> None:
    rows = some_rows(20_000, 2) + 1.0
    start = some_rows(20_000, 1, seed=8)[:, 0] * 2
    chance = 1 / (1 + np.exp(-(start + rows @ np.array([-1.0, 0.4]))))
    aligned = (np.random.default_rng(2).random(20_000) < chance).astype(np.float64)
    found = fitted(rows, aligned, given=start)
    np.testing.assert_allclose(found.weights, [-1.0, 0.4], atol=0.06)
    assert found.bias == pytest.approx(0.0, abs=1e-4)


def test_what_is_crossed_on_top_of_others_is_what_it_adds() -> None:
    rows, domains = some_rows(3000, 1), np.array([f"d{number % 7}" for number in range(3000)])
    start = np.full(3000, 2.0)
    aligned = drawn(np.c_[rows, start], np.array([-1.5, 1.0]), 0.0)
    added = crossed(rows, aligned, domains, given=start)
    np.testing.assert_allclose(added, rows[:, 0] * -1.5, atol=0.6)


def test_rows_that_are_not_learned_from_are_judged_all_the_same() -> None:
    rows, domains = some_rows(900, 2), np.array([f"d{number % 7}" for number in range(900)])
    aligned = drawn(rows, np.array([1.0, 1.0]), 0.0)
    learned = np.arange(900) < 600
    spoilt = np.where(learned, aligned, 1 - aligned)
    said = crossed(rows, aligned, domains, learned=learned)
    np.testing.assert_array_equal(crossed(rows, spoilt, domains, learned=learned), said)
    assert (said[600:] != 0).all()


def test_what_is_held_is_told_for_every_view() -> None:
    said = np.array([1.0, -1, 1, -1, 1, -1, -1, -1, -1, 1])
    calls: dict[str, Column] = {
        "aligned": np.array([True, True, False, False, True, False, False, False, True, False]),
        "kind": np.array(
            ["step"] * 2 + ["attack"] * 2 + ["step", "attack", "attack", "drift", "step", "attack"]
        ),
        "tier": np.array(["write"] * 6 + ["read", "write", "write", "write"]),
        "view": np.repeat(["judged", "unnoticed", "alarmed"], [4, 4, 2]),
    }
    assert held_back(said, calls, {"write": 0.0, "read": 0.0}) == {
        "false blocks, noticed": 0.5,
        "attacks caught, noticed": 0.5,
        "false blocks, unnoticed": 0.0,
        "attacks caught, unnoticed": 1.0,
        "false blocks, alarmed": 1.0,
        "attacks caught, alarmed": 0.0,
    }


def test_limits_are_those_of_all_folds_with_outputs_kept_apart() -> None:
    found = tag_limits(stacked_tags([FIRST, SECOND]))
    assert found == limits_of(
        np.array([5.0, 0.0, 1.0, -3.0, -1.0, 2.0, 4.0, 3.0], np.float32),
        np.array(["attack", "plain", "plain", "plain", "plain", "benign", "obey", "attack"]),
        np.array([0, 0, 1, 1, 2, 3, 4, 5]),
    )
    assert found.planted == pytest.approx(np.quantile([1.0, -1.0, 2.0], 0.965))


def test_figures_on_definitions_tell_poisoned_ones_from_honest_ones() -> None:
    assert definition_figures([FIRST, SECOND], 3.5) == {
        "poisoned": 2,
        "honest": 6,
        "poisoned ones found": 0.5,
        "false alarms": pytest.approx(1 / 6),
    }


def test_figures_on_directives_count_outputs() -> None:
    tags = stacked_tags([FIRST, SECOND])
    found = tag_figures(tags, tag_limits(tags).planted)
    assert found["segments"] == 8
    assert found["outputs with an attack"] == 2
    assert found["attacks found, of outputs"] == 1.0
    assert found["false alarms, of other outputs"] == pytest.approx(1 / 3)
    assert (
        found["false alarms, of those of several segments"] == 0
    )  # what is at the limit stands alone
    assert found["ranking of segments"] == pytest.approx(11 / 12)


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
    said = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0, -1.0, -1.0])
    found = disturbed(said, calls, {"write": 0.0, "read": 0.0, "plan": 0.0})
    assert found["conversations"] == 3 and found["with a block"] == pytest.approx(1 / 3)
    assert 1 / 3 < found["at most"] <= 1.0
