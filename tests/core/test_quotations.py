"""Quotes found in texts, and long texts shortened."""

import pytest

from taskshield.core.instructions import Span
from taskshield.core.quotations import find_quote, shorten


@pytest.mark.parametrize(
    ("quote", "text", "places"),
    [
        ("ab", "abab ab", [(0, 2), (2, 4), (5, 7)]),
        ("a", "aa", [(0, 1), (1, 2)]),
        ("aba", "ababa", [(0, 3)]),
        ("a b", "so a\n b", [(3, 7)]),
        ("a", "b", []),
        (" \n", "a b", []),
        ("a", "", []),
    ],
)
def test_each_place_of_a_quote_is_found_without_overlaps(
    quote: str, text: str, places: list[tuple[int, int]]
) -> None:
    assert list(find_quote(quote, text)) == [Span(start=start, end=end) for start, end in places]


@pytest.mark.parametrize(
    ("text", "limit", "shortened"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdef", 5, "ab [... 2 characters left out ...] ef"),
        ("abcdef", 0, " [... 6 characters left out ...] "),
        ("äöü", 6, "äöü"),
        ("äöü", 5, "ä [... 1 characters left out ...] ü"),
        ("äöü", 3, " [... 3 characters left out ...] "),
        ("a\ud800b", 5, "a\ud800b"),
        ("a\ud800b", 4, "a [... 1 characters left out ...] b"),
    ],
)
def test_a_text_of_more_bytes_than_the_limit_loses_its_middle(
    text: str, limit: int, shortened: str
) -> None:
    assert shorten(text, limit) == shortened
