import numpy as np
import pytest

from taskshield_lab.training.fitting.fold_predictions import join_tags
from taskshield_lab.training.fitting.tag_limits import (
    FALSE_NEIGHBOURS,
    FALSE_OUTPUTS,
    definition_figures,
    fit_limits,
    max_logits,
    tag_figures,
)
from tests.lab.training.fitting.call_tables import FIRST, SECOND, labelled, tags


def test_the_highest_logit_of_a_segment_is_that_of_its_output() -> None:
    found = max_logits(np.array([1.0, 3.0, -2.0, 0.5]), np.array([0, 0, 2, 2]))
    assert found.tolist() == [3.0, -np.inf, 0.5]


def test_limits_keep_false_alarms_at_their_rates() -> None:
    rng = np.random.default_rng(1)
    logits, outputs = rng.normal(size=8000), np.repeat(np.arange(2000), 4)
    labels = np.full(8000, "plain", dtype="<U6")
    labels[:400] = "obey"  # a hundred outputs
    labels[400:800] = "attack"
    logits[400:800] += 9
    logits[:400] += 1.5
    limits = fit_limits(tags(logits, labels, outputs))
    highest = max_logits(logits, outputs)
    assert np.mean(highest[200:] >= limits.injected) == pytest.approx(FALSE_OUTPUTS, abs=2e-3)
    assert np.mean(highest[:100] >= limits.injected_delegated) == pytest.approx(0.1, abs=0.02)
    harmless = logits[labels != "attack"]
    assert np.mean(harmless >= limits.joined) == pytest.approx(FALSE_NEIGHBOURS, abs=2e-3)
    assert limits.joined <= limits.injected <= limits.injected_delegated


def test_delegation_never_makes_the_limit_lower() -> None:
    logits = np.array([4.0, 5.0, -3.0])
    limits = fit_limits(tags(logits, labelled("plain", "benign", "obey"), np.arange(3)))
    assert limits.injected_delegated == limits.injected > 4
    without = fit_limits(tags(logits, labelled("plain", "benign", "plain"), np.arange(3)))
    assert without.injected_delegated == without.injected


def test_limits_are_fitted_on_all_folds_with_separate_outputs() -> None:
    found = fit_limits(join_tags([FIRST, SECOND]))
    assert found == fit_limits(
        tags(
            np.array([5.0, 0.0, 1.0, -3.0, -1.0, 2.0, 4.0, 3.0], np.float32),
            labelled("attack", "plain", "plain", "plain", "plain", "benign", "obey", "attack"),
            np.array([0, 0, 1, 1, 2, 3, 4, 5]),
        )
    )
    assert found.injected == pytest.approx(np.quantile([1.0, -1.0, 2.0], 0.965))


def test_figures_on_definitions_tell_poisoned_ones_from_honest_ones() -> None:
    assert definition_figures([FIRST, SECOND], 3.5) == {
        "poisoned": 2,
        "honest": 6,
        "poisoned ones found": 0.5,
        "false alarms": pytest.approx(1 / 6),
    }


def test_figures_on_directives_count_outputs() -> None:
    table = join_tags([FIRST, SECOND])
    found = tag_figures(table, fit_limits(table).injected)
    assert found["segments"] == 8
    assert found["outputs with an attack"] == 2
    assert found["attacks found, of outputs"] == 1.0
    assert found["false alarms, of other outputs"] == pytest.approx(1 / 3)
    assert (
        found["false alarms, of those of several segments"] == 0
    )  # what is at the limit stands alone
    assert found["ranking of segments"] == pytest.approx(11 / 12)
