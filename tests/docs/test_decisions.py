"""Decision records: their form, their length, and the index that lists them."""

import re

import pytest

from tests.docs.pages import DOCS, text

RECORDS = sorted(path.name for path in (DOCS / "decisions").glob("[0-9]*.md"))


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_has_its_three_parts_in_at_most_300_words(name: str) -> None:
    record = text(f"docs/decisions/{name}")
    assert re.findall(r"^## (.+)$", record, re.MULTILINE) == ["Context", "Decision", "Consequences"]
    assert len(record.split()) <= 300


def test_the_index_lists_every_record_with_its_title() -> None:
    rows = re.findall(
        r"^\| (\d+) \| \[(.+)\]\((.+)\) \|$", text("docs/decisions/index.md"), re.MULTILINE
    )
    assert [name for _, _, name in rows] == RECORDS
    for number, title, name in rows:
        assert name.startswith(f"{int(number):04}-")
        assert text(f"docs/decisions/{name}").startswith(f"# {number}. {title}\n")
