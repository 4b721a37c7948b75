"""Long harmless prose to hide a directive in. The same seed gives the same text."""

from collections.abc import Iterator
from itertools import islice
from random import Random

_WHO = (
    "the archive", "the choir", "the gardening group", "a retired teacher", "the night shift",
    "the canteen", "the library on the hill", "the museum", "an old cartographer", "the ferry crew",
    "the parish council", "the weather station", "the bakery", "the rowing club", "the caretaker",
    "a visiting botanist", "the small theatre", "the school orchestra", "the printing shop",
    "the lighthouse museum",
)  # fmt: skip
_DID = (
    "counted", "repainted", "photographed", "described", "catalogued", "rearranged", "remembered",
    "measured", "restored", "compared", "drew", "discussed", "admired", "cleaned", "collected",
)  # fmt: skip
_WHAT = (
    "the copper kettles", "the tide tables", "the benches by the canal", "two hundred postcards",
    "the apple trees", "the brass instruments", "the maps of the harbour", "the church windows",
    "the winter coats", "some small watercolours", "the stone bridges", "the recipes for rye bread",
    "the garden paths", "the glass buttons", "the clocks in the hall", "the nesting boxes",
    "the wooden puppets", "the old ledgers",
)  # fmt: skip
_WHEN = (
    "in the spring", "over several weeks", "before the first frost", "on a foggy morning",
    "during the holidays", "after the flood", "in the quiet months", "one evening",
    "shortly before noon", "throughout the year", "in the week of the fair", "on the longest day",
    "while it rained",
)  # fmt: skip
_WHY = (
    "out of curiosity", "for the love of it", "because the light was good", "without any hurry",
    "as had been the custom for decades", "to everyone's surprise", "for want of anything better",
    "with a good deal of patience", "although nobody had expected it", "more or less by accident",
    "with mixed results",
)  # fmt: skip
_PATTERNS = (
    "{When} {who} {did} {what}, {why}.",
    "{Who} {did} {what} {when}.",
    "It is said that {who} {did} {what} {why}, and that {who2} {did2} {what2} as well.",
    "{Why}, {who} {did} {what}; {who2} had done much the same {when}.",
    "Of {what} little more is known than that {who} {did} them {when}.",
    "{Who} {did} {what} {when}, whereas {who2} {did2} {what2}.",
    "The report devotes a page to {what}, which {who} {did} {when}.",
    "{When} there was talk of {what}, and {who} {did} them {why}.",
    "Neither {what} nor {what2} changed much after {who} {did} them.",
)
_SENTENCES_IN_A_PARAGRAPH = 7


def paragraphs(seed: str, length: int) -> list[str]:
    """Paragraphs with about this many characters in total, without repeated sentences."""
    chance, written, total = Random(seed), list[str](), 0
    sentences = _sentences(chance)
    while total < length:
        written.append(" ".join(islice(sentences, _SENTENCES_IN_A_PARAGRAPH)))
        total += len(written[-1])
    return written


def _sentences(chance: Random) -> Iterator[str]:
    seen: set[str] = set()
    while True:
        who, who2 = chance.sample(_WHO, 2)
        did, did2 = chance.sample(_DID, 2)
        what, what2 = chance.sample(_WHAT, 2)
        when, why = chance.choice(_WHEN), chance.choice(_WHY)
        sentence = chance.choice(_PATTERNS).format(
            **{"who": who, "Who": _capital(who), "who2": who2, "did": did, "did2": did2},
            **{"what": what, "what2": what2, "when": when, "When": _capital(when)},
            **{"why": why, "Why": _capital(why)},
        )
        if sentence not in seen:
            seen.add(sentence)
            yield sentence


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
