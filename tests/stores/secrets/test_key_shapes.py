"""The table of key shapes: every row finds its own keys, in linear time."""

import re

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from taskshield.core.instructions import Span
from taskshield.stores.secrets.key_shapes import KeyShape, key_pattern, key_shapes
from taskshield.stores.secrets.patterns import secrets
from tests.linear import is_linear

SHAPES = key_shapes()
EACH = pytest.mark.parametrize("shape", SHAPES, ids=[shape.id for shape in SHAPES])


def test_the_table_is_sorted_and_has_no_row_twice() -> None:
    ids = [shape.id for shape in SHAPES]
    assert ids == sorted(set(ids))
    assert len({shape.prefix for shape in SHAPES}) == len(SHAPES)


@EACH
def test_a_prefix_alone_is_no_key(shape: KeyShape) -> None:
    for text in (shape.prefix, f"{shape.prefix}1", f"{shape.prefix}name", f"{shape.prefix}a-b_c.d"):
        assert not secrets(text)


@EACH
@given(data=st.data())
@settings(max_examples=4, derandomize=True, database=None, phases=[Phase.generate])
def test_a_row_finds_its_own_keys(shape: KeyShape, data: st.DataObject) -> None:
    key = data.draw(st.from_regex(_alone(shape), fullmatch=True))
    assert secrets(key) == [Span(start=0, end=len(key))]
    assert secrets(f"Use {key} for it.") == [Span(start=4, end=4 + len(key))]
    assert not list(key_pattern().finditer(f"x{key}"))


@pytest.mark.parametrize("follows", ["", "a1."])
def test_every_row_takes_linear_time(follows: str) -> None:
    def find_in_repeated_prefixes(text: str) -> None:
        for shape in SHAPES:  # a quadratic row takes most of the time of all rows
            list(key_pattern().finditer(text.replace("u", shape.prefix + follows)))

    assert is_linear(find_in_repeated_prefixes, "u")


def _alone(shape: KeyShape) -> re.Pattern[str]:
    return re.compile(re.escape(shape.prefix) + shape.pattern)
