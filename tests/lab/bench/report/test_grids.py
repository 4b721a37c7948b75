"""Tables in a terminal."""

import io

import pytest
from rich.console import Console

from taskshield_lab.bench.report.grids import Block, Column, Grid, Row

GRID = Grid(
    title="Title",
    subject="who",
    columns=(Column(title="a", parts=("x", "y")), Column(title="long title"), Column(title="b")),
    blocks=(
        Block(rows=(Row(label="one", cells=(("1", "22"), ("333",), ("4",))),)),
        Block(
            heading="heading",
            rows=(
                Row(label="a label of many words", cells=(("10", "2"), ("",), ("-",)), strong=True),
            ),
        ),
    ),
    notes=("a note",),
)


def printed(grid: Grid, width: int = 120) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    with console.capture() as captured:
        console.print(grid)
    return [line.rstrip() for line in captured.get().splitlines()]


def test_a_grid_is_printed_in_columns() -> None:
    assert printed(GRID) == [
        "Title",
        "",
        "                           a  long title  b",
        "who                     x  y",
        "one                     1 22         333  4",
        "",
        "heading",
        "a label of many words  10  2              -",
        "",
        "a note",
    ]


def test_columns_that_do_not_fit_go_below() -> None:
    lines = printed(GRID, 36)
    assert max(map(len, lines)) <= 36
    assert [line for line in lines if line.startswith("one")] == [
        "one                     1 22",
        "one                           333  4",
    ]


@pytest.mark.parametrize("width", [20, 36, 60, 120])
def test_nothing_is_lost_however_narrow(width: int) -> None:
    text = " ".join(printed(GRID, width)).split()
    for word in ("Title", "333", "22", "heading", "many", "words", "note"):
        assert word in text


def test_a_label_is_folded_where_columns_need_the_room() -> None:
    grid = Grid(
        title="",
        subject="who",
        columns=(Column(title="c" * 20),),
        blocks=(Block(rows=(Row(label="word " * 10, cells=(("1",),)),)),),
    )
    assert max(map(len, printed(grid, 50))) <= 50
    assert " ".join(printed(grid, 50)).split().count("word") == 10


def test_words_are_not_taken_for_markup() -> None:
    words = "[red]x[/red] :skull: [/]"
    row = Row(label=words, cells=((words,),))
    grid = Grid(
        title=words,
        subject=words,
        columns=(Column(title=words),),
        blocks=(Block(heading=words, rows=(row,)),),
        notes=(words,),
    )
    assert " ".join(printed(grid)).count(words) == 7


def test_an_empty_grid_can_be_printed() -> None:
    grid = Grid(title="t", subject="s", columns=(Column(title="c"),), blocks=())
    assert printed(grid) == ["t", "", "s         c"]
