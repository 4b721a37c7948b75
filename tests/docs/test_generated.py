"""Generated pages are current."""

import re

import benchmarks_page
import pytest
import settings_page

from taskshield.settings import Settings
from tests.docs.pages import text
from tests.test_house_rules import keys


def test_the_settings_reference_is_current() -> None:
    assert text("docs/settings-reference.md") == settings_page.page(), (
        "run: python docs/site/settings_page.py"
    )


def test_the_settings_reference_has_every_setting_that_is_no_section() -> None:
    listed = re.findall(r"^\| `([\w.]+)`<br>", settings_page.page(), re.MULTILINE)
    names = list(keys(Settings))
    assert listed and set(listed) == {
        name for name in names if not any(each.startswith(f"{name}.") for each in names)
    }


@pytest.mark.parametrize("name", benchmarks_page.TABLES)
def test_each_table_of_figures_is_on_the_page(name: str) -> None:
    assert f"<!-- figures: {name} -->" in text("docs/benchmarks.md")


def test_the_figures_are_those_of_the_records() -> None:
    current = text("docs/benchmarks.md")
    assert current == benchmarks_page.page(current), "run: python docs/site/benchmarks_page.py"
    assert benchmarks_page.PICTURE.read_text(encoding="utf-8") == benchmarks_page.picture()
