"""The matrix of the integrations page says what the tests show, no more and no less."""

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
    source = (
        'NAME = "MCP"\n@pytest.mark.shows(NAME, "HITL", "feedback")\nasync def test_it(): ...\n'
    )
    assert list(marks(source)) == [("MCP", ["HITL", "feedback"])]
    assert list(marks("@pytest.mark.slow\ndef test_it(): ...\n")) == []
    with pytest.raises(KeyError):
        list(marks('@pytest.mark.shows(UNKNOWN, "HITL")\ndef test_it(): ...\n'))


def test_a_table_replaces_the_one_before() -> None:
    made = table({"MCP": {"HITL"}})
    assert made.count("✓") == 1 and len(made.splitlines()) == len(SURFACES) + 2
    text = f"before\n{BEGIN}old\n{END}after\n"
    assert with_table(text, made) == f"before\n{BEGIN}{made}{END}after\n"
