import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskshield.core.safe_text import one_line, visible
from tests.cli.hostile import PAYLOADS, hidden


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", "\\x1b[31m"),
        ("\x9b", "\\x9b"),
        ("\u202eabc\u2066", "<U+202E>abc<U+2066>"),
        ("\U000e0041", "<U+E0041>"),
        ("\ud83d", "<U+D83D>"),
        ("a\ufe01b\u3164", "a<U+FE01>b<U+3164>"),
        ("a\tb", "a b"),
        ("a\r\nb\nc", "a\nb\nc"),
        ("a\rb", "a\\x0db"),
        ("Grüße, 你好 ❤️\u3000!", "Grüße, 你好 ❤️\u3000!"),
    ],
)
def test_what_a_terminal_would_obey_or_hide_is_spelled_out(text: str, shown: str) -> None:
    assert visible(text, 100) == shown


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_no_payload_survives(payload: str) -> None:
    assert not hidden(visible(payload, 1000))


@given(st.text(st.characters()))
def test_no_text_at_all_survives(text: str) -> None:
    assert not hidden(visible(text, 10_000))
    assert "\n" not in one_line(text, 10_000)


def test_a_long_text_is_cut_and_says_by_how_much() -> None:
    assert visible("a" * 1500, 100) == "a" * 100 + "... (+1,400 characters)"
    assert visible("a" * 100, 100) == "a" * 100


def test_spelling_out_does_not_make_a_text_longer_than_allowed() -> None:
    assert visible("\u202e" * 50, 20) == "<U+202E><U+202E>... (+48 characters)"


def test_one_line_has_no_blanks_to_hide_behind() -> None:
    assert one_line("  a \n\n\t b\r\n" + " " * 500 + "c", 100) == "a b c"
