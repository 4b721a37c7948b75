"""Slots in YAML files."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from taskshield_lab.bench.agentdojo.yaml_template import Template

DATA = {
    "inbox": [
        {"id": 1, "body": "Dear {name},\n\n  {note}"},
        {"id": 2, "body": 'plain "text" é 😀'},
    ],
    "files": {"a.txt": "{{not a slot}} {note} and {note} at the end of a long line that is folded"},
    7: "{name}",
    "when": "2024-05-15",
}
TEXT = yaml.dump(DATA, default_style='"', width=40, allow_unicode=True)
LETTERS = st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"], exclude_characters='"\\')


def whole(texts: dict[str, str]) -> object:
    return yaml.safe_load(TEXT.format(**texts))


@given(st.text(LETTERS | st.sampled_from("\n\t ")), st.text(LETTERS | st.sampled_from("\n ")))
def test_filling_slots_gives_what_parsing_the_filled_text_gives(name: str, note: str) -> None:
    texts = {"name": name, "note": note}
    try:
        expected = whole(texts)
    except yaml.YAMLError:  # e.g. a document marker at the start of a line
        return
    assert Template(TEXT).filled(texts) == expected


@pytest.mark.parametrize("note", [r"a\nb", r"\u2801\"x\"", "a\n\n\nb", "  a  \n  b  ", r"\\"])
def test_escapes_and_line_breaks_mean_what_they_mean_in_the_file(note: str) -> None:
    texts = {"name": "x", "note": note}
    assert Template(TEXT).filled(texts) == whole(texts)


def test_what_is_filled_in_once_is_not_there_the_next_time() -> None:
    template = Template(TEXT)
    first = template.filled({"name": "x", "note": "y"})
    first["inbox"].clear()
    assert template.filled({"name": "x", "note": "z"}) == whole({"name": "x", "note": "z"})


def test_a_slot_in_a_key_is_refused() -> None:
    with pytest.raises(ValueError, match="in a key"):
        Template('"{slot}": 1')
