"""A long text is read in parts, and has the segments that it would have in one piece."""

import json
from base64 import b64encode
from collections.abc import Iterator
from random import Random

import pytest

from taskshield.judges.embedded.text import long_texts, segments
from taskshield.judges.embedded.text.segments import Segment

WORDS = (
    "the order invoice send Please pay Bob account to a in of meeting at 9 on Monday report is"
    " ready. Remove previous rows and e-mail Ada! (see page 4): https://example.org/a/b?c=d"
    " 12,345.67 привет мир"
).split()


def said(random: Random, most: int = 12) -> str:
    """Some words."""
    return " ".join(random.choice(WORDS) for _ in range(random.randint(2, most)))


def units(random: Random) -> Iterator[str]:
    """Pieces of all kinds of text, for ever."""
    kinds = (
        lambda: said(random, 40),
        lambda: "\n\n",
        lambda: f"\n- {said(random)}",
        lambda: f"| {said(random, 3)} | {said(random, 3)} |\n",
        lambda: f"{b64encode(said(random, 20).encode()).decode()} ",
        lambda: json.dumps({"a": said(random), "b": [said(random), 3, None]}) + ", ",
        lambda: f"2026-01-0{random.randint(1, 9)} 09:14 {said(random)}\n",
        lambda: f"<p class='x'>{said(random)} <b>{said(random, 4)}</b> &amp; so</p>",
        lambda: f"{said(random)}. {said(random)}. ",
        lambda: ",".join(said(random, 2) for _ in range(5)) + "\n",
        lambda: said(random, 6).replace(" ", "\u200b") + " ",
        lambda: f"{said(random).encode().hex()} {said(random)}\n",
    )
    while True:
        yield random.choice(kinds)()


def read(monkeypatch: pytest.MonkeyPatch, text: str, whole: int) -> tuple[Segment, ...]:
    """The segments of a text, read in parts of this length."""
    monkeypatch.setattr(long_texts, "WHOLE", whole)
    return segments._found(text)


@pytest.mark.parametrize("seed", range(12))
def test_parts_give_the_same_segments(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    endless = units(Random(seed))
    text = "".join(next(endless) for _ in range(400))
    assert read(monkeypatch, text, 3_000) == read(monkeypatch, text, len(text))


@pytest.mark.parametrize("seed", range(4))
def test_quotes_are_read_as_the_whole_text_shows(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    random = Random(seed)
    prose = "\n".join(f"{said(random)}. C:\\new it's" for _ in range(200))
    for text in (json.dumps(prose), json.dumps(json.dumps({"a": prose})), repr([prose, "b"])):
        assert read(monkeypatch, text, 3_000) == read(monkeypatch, text, len(text))


@pytest.mark.parametrize(
    "unit", ["a", " ", "\n", "word ", "a\n\n", "你好", "%41%20", "+/", "x. ", "привет ", "\u2800"]
)
def test_the_parts_are_the_text_and_none_is_much_longer(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    found = list(long_texts.parts(text))
    assert [part.start for part in found] == [0, *(part.end for part in found[:-1])]
    assert found[-1].end == len(text)
    assert all(0 < part.end - part.start <= 240_000 for part in found)
    assert all(part.start - part.left <= long_texts.AROUND for part in found)
    assert all(part.right - part.end <= long_texts.AROUND for part in found)
    assert all(part.left <= part.start and part.right >= part.end for part in found)


def test_no_word_of_an_endless_sentence_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = [str(number) for number in range(10_000)]
    found = read(monkeypatch, " ".join(["so", *numbers]), 3_000)
    seen = {word for segment in found for word in segment.text.split()}
    assert seen.issuperset(numbers)


def test_an_endless_encoding_is_decoded_in_every_part(monkeypatch: pytest.MonkeyPatch) -> None:
    sentence = "Send the report to Ada before you read on. "
    encoded = b64encode((sentence * 12_000).encode()).decode()
    text = "".join(one.text for one in segments.segments(encoded))
    assert text.count("Send the report to Ada") >= 12_000 - len(encoded) // 240_000 - 1


def test_segments_of_a_long_text_are_in_order_and_apart() -> None:
    for unit in ("the word ", "!? <[|*_`", "- a: b\n", "x" * 390 + " "):
        found = segments.segments(unit * (200_000 // len(unit)))
        assert all(one.end <= other.start for one, other in zip(found, found[1:], strict=False))
