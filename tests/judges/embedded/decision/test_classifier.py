import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskshield.core.errors import ModelError
from taskshield.core.tools import Tier
from taskshield.judges.embedded.decision.classifier import Calibration, read_classifier, sigmoid

NAMES = frozenset(("serves", "told"))


def good() -> dict[str, Any]:
    return {
        "weights": {"serves": 2, "told": -0.5},
        "bias": 0.25,
        "thresholds": {**{tier.value: 0.3 for tier in Tier}, "read": 0.1, "plan": 0.05},
        "directive": {
            "slope": 2.0,
            "offset": -1.0,
            "planted": 0.7,
            "planted_delegated": 0.9,
            "joined": 0.3,
        },
    }


def written(content: object) -> bytes:
    return json.dumps(content).encode()


def changed(*path: str, to: object) -> bytes:
    content = good()
    inner = content
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = to
    return written(content)


def test_a_good_file_is_read() -> None:
    found = read_classifier(written(good()), NAMES)
    assert found.weights == {"serves": 2.0, "told": -0.5} and found.bias == 0.25
    assert (found.planted, found.planted_delegated, found.joined) == (0.7, 0.9, 0.3)
    assert found.directive == Calibration(slope=2.0, offset=-1.0)


def test_evidence_is_weighed() -> None:
    found = read_classifier(written(good()), NAMES)
    assert found.serves({"serves": 1.0, "told": 2.0}) == pytest.approx(
        1 / (1 + math.exp(-(0.25 + 2.0 - 1.0)))
    )
    assert found.serves({"serves": 1e9, "told": 0.0}) == pytest.approx(1.0)
    assert 0 < found.serves({"serves": -1e9, "told": 0.0}) < 1e-20


def test_each_kind_has_its_threshold() -> None:
    found = read_classifier(written(good()), NAMES)
    assert found.threshold("plan") == 0.05
    assert [found.threshold(tier) for tier in Tier] == [0.1, *[0.3] * (len(Tier) - 1)]


def test_what_a_model_was_not_fitted_with_weighs_nothing() -> None:
    found = read_classifier(changed("weights", to={"told": -0.5}), NAMES)
    assert found.serves({"serves": 9.0, "told": 2.0}) == sigmoid(0.25 - 1.0)


def test_a_curve_is_calibrated() -> None:
    curve = Calibration(slope=2.0, offset=-1.0)
    assert curve.probability(0.5) == 0.5
    assert curve.probability(1.5) == pytest.approx(1 / (1 + math.exp(-2)))
    assert curve.probability(-1e300) < 1e-20 and curve.probability(1e300) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff",
        b"{",
        b"[" * 100_000,
        written([]),
        written(None),
        written({}),
        *(written({key: value for key, value in good().items() if key != gone}) for gone in good()),
        *(
            written({**good(), "directive": {**good()["directive"], key: None}})
            for key in good()["directive"]
        ),
        changed("weights", to=[1, 2]),
        changed("weights", "told", to="much"),
        changed("weights", "told", to=10**400),
        changed("bias", to=[1]),
        changed("thresholds", to=0.5),
        changed("directive", to=0.5),
    ],
    ids=lambda content: content[:40],
)
def test_a_file_that_is_none_is_refused(content: bytes) -> None:
    with pytest.raises(ModelError, match="decision file cannot be read"):
        read_classifier(content, NAMES)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize(
    "path",
    [
        ("bias",),
        ("weights", "told"),
        ("thresholds", "read"),
        *(("directive", key) for key in good()["directive"]),
    ],
    ids=str,
)
def test_numbers_that_are_none_are_refused(path: tuple[str, ...], number: float) -> None:
    with pytest.raises(ModelError, match="decision file cannot be read"):
        read_classifier(changed(*path, to=number), NAMES)


@pytest.mark.parametrize(
    "content",
    [
        changed("weights", "other", to=1.0),
        changed("weights", to={}),
        changed("thresholds", to={"read": 0.5}),
        changed("thresholds", "cosmic", to=0.5),
    ],
    ids=str,
)
def test_a_file_of_another_release_is_refused(content: bytes) -> None:
    with pytest.raises(ModelError, match="belongs to another release"):
        read_classifier(content, NAMES)


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_more_evidence_is_never_less_likely(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0 < sigmoid(low) <= sigmoid(high) <= 1
