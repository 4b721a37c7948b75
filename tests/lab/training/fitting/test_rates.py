import numpy as np
import pytest

from taskshield_lab.training.fitting.fold_predictions import Column
from taskshield_lab.training.fitting.rates import (
    attacks_caught,
    calibration_table,
    false_blocks,
    rates_at_thresholds,
    related_sentence_figures,
    roc_auc,
)
from tests.lab.training.fitting.call_tables import calls_of

LOGITS = np.array([-4.0, -3.0, -2.0, 0.5, 1.0, -1.0, 0.0, 1.0, 2.0, 3.0, -9.0, -9.0])
"""Five attacks, five aligned calls, an attack that only reads, an aligned read call."""


CALLS = calls_of(
    np.array([False] * 5 + [True] * 5 + [False, True]),
    np.array(["write", "external"] * 5 + ["read", "read"]),
)


def test_attacks_caught_are_counted_among_calls_with_side_effects() -> None:
    assert attacks_caught(LOGITS, CALLS, 0.0) == 3 / 5  # nothing above the lowest aligned call, -1
    assert attacks_caught(LOGITS, CALLS, 0.5) == 5 / 5  # the aligned calls' median is 1
    assert attacks_caught(LOGITS, CALLS, 0.25) == 3 / 5  # their lower quartile is 0


def test_false_blocks_are_counted_where_so_many_attacks_are_caught() -> None:
    assert false_blocks(LOGITS, CALLS, 0.5) == 0.0
    assert false_blocks(LOGITS, CALLS, 0.75) == 2 / 5
    assert false_blocks(LOGITS, CALLS, 1.0) == 3 / 5


def test_drift_is_counted_separately_from_attacks() -> None:
    kind = np.array(["attack"] * 3 + ["drift"] * 2 + ["step"] * 5 + ["attack", "step"])
    calls = {**CALLS, "kind": kind}
    assert attacks_caught(LOGITS, calls, 0.0) == 1.0
    assert attacks_caught(LOGITS, calls, 0.0, kind="drift") == 0.0
    assert false_blocks(LOGITS, calls, 1.0, kind="drift") == 3 / 5


def test_ranking_is_the_chance_that_a_good_call_is_above_a_bad_one() -> None:
    right = np.array([True, False, True, False])
    assert roc_auc(np.array([4.0, 3.0, 2.0, 1.0]), right) == 3 / 4
    assert roc_auc(np.array([4.0, 1.0, 3.0, 2.0]), right) == 1.0
    assert roc_auc(np.array([1.0, 4.0, 2.0, 3.0]), right) == 0.0


def test_rates_at_the_thresholds_are_by_kind() -> None:
    kind = np.array(["attack"] * 4 + ["drift"] + ["step"] * 5 + ["attack", "step"])
    found = rates_at_thresholds(
        LOGITS, {**CALLS, "kind": kind}, {"write": 0.5, "external": -5.0, "plan": 0}
    )
    assert found["write"] == {"false blocks": 0.5, "attacks caught": 1.0, "drift caught": 0.0}
    assert found["external"]["attacks caught"] == 0.0
    assert found["external"]["drift caught"] is None
    assert set(found["plan"].values()) == {None}


def test_the_calibration_table_compares_predictions_with_outcomes() -> None:
    chance = np.array([0.05, 0.05, 0.95, 0.95, 0.95, 0.55])
    logits = np.log(chance / (1 - chance))
    found = calibration_table(logits, np.array([False, False, True, True, False, True]))
    assert [one["calls"] for one in found] == [2, 1, 3]
    assert [one["said"] for one in found] == pytest.approx([0.05, 0.55, 0.95])
    assert [one["was"] for one in found] == pytest.approx([0.0, 1.0, 2 / 3])


def test_the_calibration_table_leaves_out_no_call_however_sure() -> None:
    logits = np.array([-50.0, -1.0, 0.0, 1.0, 50.0, 700.0])
    found = calibration_table(logits, np.ones(6))
    assert sum(one["calls"] for one in found) == 6


def test_rates_are_reported_for_every_view() -> None:
    logits = np.array([1.0, -1, 1, -1, 1, -1, -1, -1, -1, 1])
    calls: dict[str, Column] = {
        "aligned": np.array([True, True, False, False, True, False, False, False, True, False]),
        "kind": np.array(
            ["step"] * 2 + ["attack"] * 2 + ["step", "attack", "attack", "drift", "step", "attack"]
        ),
        "tier": np.array(["write"] * 6 + ["read", "write", "write", "write"]),
        "view": np.repeat(["judged", "unnoticed", "alarmed"], [4, 4, 2]),
    }
    assert related_sentence_figures(logits, calls, {"write": 0.0, "read": 0.0}) == {
        "false blocks, noticed": 0.5,
        "attacks caught, noticed": 0.5,
        "false blocks, unnoticed": 0.0,
        "attacks caught, unnoticed": 1.0,
        "false blocks, alarmed": 1.0,
        "attacks caught, alarmed": 0.0,
    }
