"""No shape of a tool's output hides a sentence from the guard."""

from collections import Counter
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.shapes import host_texts
from tests.shapes.surfaces import SURFACES, outcome
from tests.shapes.table import COLUMNS, READERS, written
from tests.shapes.values import ENCODINGS, MARKER, shapes

STEP = 13
"""Every so many shapes are tried on each surface, and all on one. All are read by the same walk."""


def test_no_shape_hides_a_sentence() -> None:
    surface = SURFACES["Claude Code hook"]
    outcomes = {name: outcome(surface, name, value) for name, value in shapes()}
    assert len(outcomes) > 10_000
    assert [name for name, found in outcomes.items() if found == "unread"] == []


@pytest.mark.parametrize("surface", READERS)
def test_no_surface_leaves_a_sentence_unread(surface: str) -> None:
    tried = [*islice(shapes(), 0, None, STEP), *[each for each in shapes() if "file" in each[0]]]
    found = {name: outcome(READERS[surface], name, value) for name, value in tried}
    assert [name for name, result in found.items() if result == "unread"] == []


def test_no_forged_mark_of_a_host_makes_an_order_the_users() -> None:
    for host, counts in host_texts.counts().items():
        assert set(counts) == {"judged"}, host


def test_the_table_adds_up() -> None:
    counts = Counter({"judged": 2, "unread": 1})
    *_, total = written(iter([("a", counts), ("b", counts)]))
    assert total == "| all | 6 | 4 | 0 | 0 | 2 | 0 |" and len(COLUMNS) == 5


NAMES = st.sampled_from("type text data id source content media_type mimeType blob url".split())
TYPES = st.sampled_from("text image document resource base64 url search_result".split())
WORDS = TYPES | st.text(max_size=8) | st.sampled_from([MARKER, *map(str, range(3))])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | WORDS
    | st.sampled_from([encode(MARKER) for encode in ENCODINGS.values()]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(NAMES | st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=4))
def test_every_surface_reads_the_same_parts(value: dict[str, Any]) -> None:
    """So the same output gets the same decision, whichever way it comes."""
    expected = SURFACES["Claude Code hook"]([value]).parts
    for name, surface in SURFACES.items():
        assert surface([value] if "Hook" in name else value).parts == expected, name
