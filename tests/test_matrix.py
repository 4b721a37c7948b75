"""The matrix of the integrations page says what the tests show, no more and no less."""

from pathlib import Path

import pytest

from tests.matrix import (
    BEGIN,
    COLUMNS,
    END,
    PAGE,
    SURFACES,
    marks,
    shown,
    table,
    with_table,
)


def test_the_page_has_the_matrix_that_the_tests_show() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert with_table(text, table(shown())) == text


def test_marks_name_surfaces_and_columns_that_there_are() -> None:
    found = shown()
    assert found.keys() == SURFACES.keys()
    assert set().union(*found.values()) <= set(COLUMNS)
    assert all((PAGE.parent / page).is_file() for page in SURFACES.values())


def test_a_mark_is_read_with_the_constants_of_its_file() -> None:
    mark = '@pytest.mark.shows(NAME, "HITL", "feedback")\n'
    source = f'NAME = "MCP"\n{mark}async def test_it(): assert True\n'
    assert list(marks(source)) == [("MCP", ["HITL", "feedback"])]
    assert list(marks("@pytest.mark.slow\ndef test_it(): assert True\n")) == []
    with pytest.raises(KeyError):
        list(marks(f"{mark}def test_it(): assert True\n"))


@pytest.mark.parametrize(
    "test",
    [
        "{}def helper(): assert True\n",
        "{}def test_it(): run()\n",
        "class Case:\n  {}  def test_it(self): assert True\n",
        "def test_outer():\n  {}  def test_it(): assert True\n",
        "@pytest.mark.skip\n{}def test_it(): assert True\n",
        '{}@pytest.mark.skipif(True, reason="")\ndef test_it(): assert True\n',
        '{}@pytest.mark.xfail(reason="")\ndef test_it(): assert True\n',
    ],
)
def test_a_mark_on_what_proves_nothing_is_an_error(test: str) -> None:
    with pytest.raises(ValueError, match="does not run as a test"):
        list(marks(test.format('@pytest.mark.shows("MCP", "HITL")\n')))


@pytest.mark.parametrize("runs", ["with pytest.raises(E): run()", "assert_guarded(box)"])
def test_an_assertion_may_be_in_a_helper(runs: str) -> None:
    source = f'@pytest.mark.shows("MCP", "HITL")\ndef test_it():\n  {runs}\n'
    assert list(marks(source)) == [("MCP", ["HITL"])]


def test_without_its_tests_a_surface_shows_nothing(tmp_path: Path) -> None:
    source = '@pytest.mark.shows("MCP", "HITL")\ndef test_it(): assert True\n'
    (tmp_path / "test_mcp.py").write_text(source)
    (tmp_path / "helper.py").write_text(source.replace("HITL", "feedback"))
    assert shown(tmp_path) == {"MCP": {"HITL"}}
    assert table(shown(tmp_path)) != table(shown())


def test_a_table_replaces_the_one_before() -> None:
    made = table({"MCP": {"HITL"}})
    assert made.count("✓") == 1 and len(made.splitlines()) == len(SURFACES) + 2
    text = f"before\n{BEGIN}old\n{END}after\n"
    assert with_table(text, made) == f"before\n{BEGIN}{made}{END}after\n"
