import re

import pytest

from tests.linear import is_linear


@pytest.mark.parametrize(
    ("pattern", "unit"),
    [
        (r" +$", " "),  # slow only where something else follows
        (r"\s*\Z", "\n \t"),
        (r"\t+\|", "\t"),
        (r"(?:ab)*c", "ab"),
    ],
)
def test_a_pattern_that_is_quadratic_is_found(pattern: str, unit: str) -> None:
    assert not is_linear(re.compile(pattern).findall, unit)


def test_quadratic_work_that_is_quick_on_small_texts_is_found() -> None:
    def work(text: str) -> int:
        return sum(text.count("y") for _ in range(len(text) // 500))

    assert not is_linear(work, "ab")


@pytest.mark.parametrize("unit", ["a", " ", "word "])
def test_linear_work_passes(unit: str) -> None:
    assert is_linear(lambda text: [len(word) for word in text.split()], unit)
    assert is_linear(re.compile(r"\w+").findall, unit)
