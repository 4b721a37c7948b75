"""Every pattern and function over untrusted text takes linear time.

New patterns are found by themselves: every compiled pattern in a module of taskshield counts.
"""

import re

import linear_time
import pytest
from collected_patterns import patterns
from pattern_texts import units
from text_functions import FUNCTIONS

_FUNCTION_SIZE = 500
"""Characters; functions take more time than patterns beside reading the text."""
_UNITS = 90
"""Texts tried for each pattern or function."""


def test_every_pattern_is_linear_on_texts_made_for_it() -> None:
    slow = {
        name: linear_time.superlinear(work, tried)
        for name, work, tried in linear_time.pattern_works(_UNITS)
    }
    assert {name: unit for name, unit in slow.items() if unit is not None} == {}


def test_every_function_is_linear() -> None:
    slow = {
        name: linear_time.superlinear(work, tried, _FUNCTION_SIZE)
        for name, work, tried in linear_time.function_work(_UNITS // 3)
    }
    assert {name: unit for name, unit in slow.items() if unit is not None} == {}


@pytest.mark.parametrize(
    "pattern",
    [
        r"[ \t]*(?:\|+[ \t]*)+",
        r" +$",
        r"\bnext\s*(?:up)?\s*[:,]",
        r"(?!(?:i|we)\b)\b[\w'-]+\s+wants",
        r"\bdas\s+[^,;.]{1,70}?\s+sagt\b",
        r"[.!?\n]+(?=\s|$)",
        r'"(?:[^"\\]|\\.)*"',
        r"(?:(?:with|with|to-?do|to|do)\b\W*)*$",
        r"(?:(?:good\s+morning|good|morning|super|super)\b\s*)+[\W_]*$",
    ],
)
def test_a_slow_pattern_is_noticed(pattern: str) -> None:
    compiled = re.compile(pattern, re.IGNORECASE)
    tried = units(compiled)
    assert linear_time.superlinear(linear_time.pattern_work(compiled), tried) is not None


def test_patterns_are_collected_wherever_they_stand() -> None:
    names = " ".join(patterns())
    assert "text.lines._CELL" in names
    assert "delegation_languages._PATTERNS[3]" in names  # in a tuple
    assert "argument_values._SHAPES[0][1]" in names
    assert "engine.view.line" in names  # within a function
    assert len(patterns()) > 200 and "segments" in FUNCTIONS


def test_the_table_has_the_worst_ratio_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear_time, "SIZES", (1_000, 2_000, 4_000))
    work = linear_time.pattern_work(re.compile(r"\w+"))
    (unit, *_) = linear_time.slowest(work, units(re.compile(r"\w+")))
    ratio, ms = linear_time.doubled(work, unit)
    assert ratio > 0 and ms > 0
