"""Finding quoted words in a text, and shortening long texts. In linear time for any text."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from taskshield.core.instructions import Span


def find_quote(quote: str, text: str) -> Iterator[Span]:
    """Every place of the quoted words in the text; blanks and line breaks may differ."""
    words = " ".join(quote.split())
    if not words:
        return
    flat, starts = _flattened(text)
    at = flat.find(words)
    while at >= 0:
        last = at + len(words) - 1
        yield Span(start=starts[at], end=starts[last] + 1)
        at = flat.find(words, last + 1)


def find_repeats(spans: Iterable[Span], text: str) -> list[Span]:
    """These spans and all others with the same words, in order and without overlaps."""
    found = [
        place for span in spans for place in (span, *find_quote(text[span.start : span.end], text))
    ]
    merged: list[Span] = []
    for span in sorted(found, key=lambda span: span.start):
        if merged and span.start <= merged[-1].end:
            merged[-1] = Span(start=merged[-1].start, end=max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return merged


def shorten(text: str, limit: int) -> str:
    """The text, without its middle if it has more than `limit` bytes."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= limit:
        return text
    half = limit // 2
    head = data[:half].decode("utf-8", "ignore")
    tail = data[len(data) - half :].decode("utf-8", "ignore")
    return f"{head} [... {len(text) - len(head) - len(tail)} characters left out ...] {tail}"


@lru_cache(maxsize=1)  # the quotes of one message are searched one after the other
def _flattened(text: str) -> tuple[str, Sequence[int]]:
    """The text with each run of blanks as one blank, and the position of each of its characters."""
    characters: list[str] = []
    starts = array("I")  # the last text stays here: four bytes a character, not forty
    blank = True
    for index, character in enumerate(text):
        if character.isspace():
            if not blank:
                characters.append(" ")
                starts.append(index)
            blank = True
        else:
            characters.append(character)
            starts.append(index)
            blank = False
    return "".join(characters), starts
