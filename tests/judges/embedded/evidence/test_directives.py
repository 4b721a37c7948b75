from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskshield.judges.embedded.evidence.directives import (
    SegmentGroup,
    directive_segments,
    find_directive,
    group_neighbours,
)
from taskshield.judges.embedded.text.segments import segments
from tests.judges.embedded.scenes import pieces

SEED, JOINED = 0.7, 0.3
CHANCES = st.lists(st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.7, 0.9]), max_size=20)


def chosen(*chances: float, texts: dict[int, str] | None = None) -> list[int]:
    words = [f"Piece {number}." for number in range(len(chances))]
    for number, text in ({} if texts is None else texts).items():
        words[number] = text
    return directive_segments(pieces(*words), chances, seed=SEED, joined=JOINED)


@pytest.mark.parametrize(
    ("chances", "found"),
    [
        ((), []),
        ((0.6, 0.6, 0.6), []),
        ((0.7, 0.0, 0.0, 0.0), [0]),
        ((0.0, 0.0, 0.0, 0.9), [3]),
        ((0.4, 0.3, 0.9, 0.4, 0.2, 0.4), [0, 1, 2, 3]),
        ((0.9, 0.2, 0.2, 0.9), [0, 1, 2, 3]),
        ((0.9, 0.2, 0.2, 0.2, 0.9), [0, 4]),
        ((0.9, 0.3, 0.2, 0.2, 0.3, 0.9), [0, 1, 2, 3, 4, 5]),
        ((0.9, 0.9, 0.1, 0.9), [0, 1, 2, 3]),
    ],
    ids=str,
)
def test_a_directive_grows_from_its_seeds(chances: tuple[float, ...], found: list[int]) -> None:
    assert chosen(*chances) == found


@pytest.mark.parametrize("announcement", ["Do the following:", "请执行以下操作："])
def test_an_announcement_brings_what_it_announces(announcement: str) -> None:
    assert chosen(0.0, 0.9, 0.0, 0.0, texts={1: announcement}) == [1, 2]
    assert chosen(0.0, 0.9, texts={1: announcement}) == [1]
    assert chosen(0.9, 0.5, 0.0, texts={1: announcement}) == [0, 1, 2]
    assert chosen(0.1, 0.1, 0.1, texts={1: announcement}) == []


@given(CHANCES)
def test_what_grows_has_all_seeds_and_nothing_far_from_them(chances: list[float]) -> None:
    found = chosen(*chances)
    seeds = [number for number, chance in enumerate(chances) if chance >= SEED]
    assert found == sorted(set(found)) and set(seeds) <= set(found) <= set(range(len(chances)))
    assert bool(found) is bool(seeds)
    assert all(after - before == 1 or after - before > 3 for before, after in pairwise(found))


@given(CHANCES, st.data())
def test_a_piece_that_looks_worse_hides_no_other(chances: list[float], data: st.DataObject) -> None:
    worse = [data.draw(st.sampled_from([chance, max(chance, 0.9)])) for chance in chances]
    assert set(chosen(*chances)) <= set(chosen(*worse))


def test_neighbours_are_joined() -> None:
    found = pieces("Hello.", "Stop here.", "Send it.", "Bye.", "Go.")
    assert group_neighbours(found, []) == []
    assert group_neighbours(found, [4, 2, 1]) == [
        SegmentGroup(first=1, last=2, text="Stop here. Send it."),
        SegmentGroup(first=4, last=4, text="Go."),
    ]


def test_what_is_too_long_becomes_several() -> None:
    found = pieces("a" * 300, "b" * 299, "c" * 10, "d" * 700, "e")
    assert [(run.first, run.last) for run in group_neighbours(found, range(5))] == [
        (0, 1),
        (2, 2),
        (3, 3),
        (4, 4),
    ]


@given(st.lists(st.integers(1, 700), max_size=30), st.data())
def test_runs_are_the_chosen_pieces_in_order(lengths: list[int], data: st.DataObject) -> None:
    found = pieces(*("x" * length for length in lengths))
    numbers = data.draw(st.sets(st.sampled_from(range(len(found))))) if found else set()
    made = group_neighbours(found, numbers)
    assert [number for run in made for number in range(run.first, run.last + 1)] == sorted(numbers)
    for run in made:
        words = [found[number].text for number in range(run.first, run.last + 1)]
        assert run.text == " ".join(words)
        assert run.first == run.last or len(run.text) <= 600
    for one, next_one in pairwise(made):
        apart = next_one.first > one.last + 1
        assert apart or len(one.text) + len(found[next_one.first].text) >= 600


@pytest.mark.parametrize(
    ("directive", "found"),
    [
        ("Stop here.", [range(1, 2)]),
        ("Stop here. Send it.", [range(1, 3)]),
        ("Hello. Stop here. Send it. Bye.", [range(4)]),
        ("Bye.", [range(3, 4)]),
        ("Bye. Hello.", []),
        ("Stop", []),
        ("Stop here. Send", []),
        ("Stop here. Go.", []),
        ("Send it. Bye. And more.", []),
        ("", []),
    ],
)
def test_a_directive_is_found_again(directive: str, found: list[range]) -> None:
    assert find_directive(pieces("Hello.", "Stop here.", "Send it.", "Bye."), directive) == found


def test_a_directive_is_found_where_others_begin_like_it() -> None:
    found = pieces("Go.", "Go on.", "Go.", "Stop.", "Go.", "Stop.", "Now.")
    assert find_directive(found, "Go. Stop. Now.") == [range(4, 7)]


def test_a_directive_that_stands_twice_is_found_twice() -> None:
    found = pieces("Go.", "Go on.", "Go.", "Stop.", "Go.", "Stop.", "Now.")
    assert find_directive(found, "Go. Stop.") == [range(2, 4), range(4, 6)]


@given(st.text(), st.data())
def test_the_words_of_a_run_are_found_again_in_any_text(text: str, data: st.DataObject) -> None:
    found = segments(text)
    numbers = data.draw(st.sets(st.sampled_from(range(len(found))))) if found else set()
    for run in group_neighbours(found, numbers):
        again = find_directive(found, run.text)
        assert range(run.first, run.last + 1) in again
        for place in again:
            assert " ".join(found[number].text for number in place) == run.text


@given(st.lists(st.text("xyz ", max_size=300), min_size=1, max_size=12), st.data())
def test_a_run_is_found_exactly_where_no_words_come_twice(
    fillers: list[str], data: st.DataObject
) -> None:
    text = "\n\n".join(f"Line{number} {filler}." for number, filler in enumerate(fillers))
    found = segments(text)
    numbers = data.draw(st.sets(st.sampled_from(range(len(found)))))
    for run in group_neighbours(found, numbers):
        assert find_directive(found, run.text) == [range(run.first, run.last + 1)]
