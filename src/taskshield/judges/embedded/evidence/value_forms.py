"""The ways in which one value may be written in a text, as token sequences."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias
from urllib.parse import unquote

from taskshield.judges.embedded.evidence.argument_values import SHORT_TEXT, ArgumentValue
from taskshield.judges.embedded.evidence.tokens import day, token_words

Words: TypeAlias = tuple[str, ...]

_MONTHS = (
    "january february march april may june july august september october november december".split()
)
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_CURRENCIES = ("usd", "eur", "gbp", "chf")
_NUMBER = re.compile(r"\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a value that is searched by itself: a date and its time are two."""

    ways: tuple[Words, ...]
    """Any of these will do."""
    whole: bool
    """Whether it must stand alone, not within a longer address, link, number or name."""


def parts(value: ArgumentValue) -> tuple[Part, ...]:
    """The parts of a value; together they are the value."""
    return (_parts_of_short if len(value.text) <= SHORT_TEXT else _parts_of_long)(value)


def _parts(value: ArgumentValue) -> tuple[Part, ...]:
    words = token_words(value.text)
    match value.kind:
        case "date":
            return _date(words)
        case "number":
            return (Part(ways=_number(words), whole=True),)
        case "account":
            joined = "".join(words)
            fours = tuple(joined[at : at + 4] for at in range(0, len(joined), 4))
            return (Part(ways=_unique(words, (joined,), fours), whole=True),)
        case "path":
            name = token_words(re.split(r"[/\\]", value.text.rstrip("/\\"))[-1])
            ways = _unique(words, name) if len(name) > 1 else _unique(words)
            return (Part(ways=ways, whole=False),)
        case kind:
            coded = "%" in value.text  # a sentence in a link is read decoded
            decoded = token_words(unquote(value.text)) if coded else ()
            return (Part(ways=_unique(words, decoded), whole=kind not in ("name", "text")),)


# The values of one call are searched in many texts.
_parts_of_short = lru_cache(maxsize=256)(_parts)
_parts_of_long = lru_cache(maxsize=2)(_parts)


def _number(words: Words) -> tuple[Words, ...]:
    number = next((word for word in words if _NUMBER.search(word)), "")
    ways: list[Words] = [(number,)]
    if number.isdecimal() and len(number) > 3:
        head = len(number) % 3
        groups = [number[at : at + 3] for at in range(head, len(number), 3)]
        ways.append((number[:head], *groups) if head else tuple(groups))
    ways.extend((currency + number,) for currency in _CURRENCIES)
    ways.extend((number + currency,) for currency in _CURRENCIES)
    return _unique(words, *ways)


def _date(words: Words) -> tuple[Part, ...]:
    day_found = _day(words)
    if day_found is None:
        return (Part(ways=_unique(words), whole=True),)
    clocks = tuple(word for word in words if re.fullmatch(r"\d{2}:\d{2}", word))
    found = [Part(ways=_unique(*day_found, words), whole=True)]
    if clocks and clocks[0] != "00:00":
        found.append(Part(ways=(clocks[:1],), whole=True))
    return tuple(found)


def _day(words: Words) -> list[Words] | None:
    """The ways to write the day in these words; None where there is none."""
    year: int | None = None
    month = of_month = 0
    for word in words:
        iso = _ISO.fullmatch(word)
        named = _month(word)
        if iso is not None:
            year, month, of_month = (int(part) for part in iso.groups())
            break
        if named:
            month = named
        elif word.count("/") == 2:
            return [words[:1]]  # day and month cannot be distinguished
        elif word.isdecimal() and len(word) == 4:
            year = int(word)
        elif word.isdecimal() and not of_month:
            of_month = int(word)
    if not 1 <= month <= 12 or not of_month:
        return None
    full, number = _MONTHS[month - 1], str(of_month)
    ways: list[Words] = []
    if year is not None:
        ways += [
            (day(year, month, of_month),),
            (f"{of_month}/{month}/{year}",),
            (f"{month}/{of_month}/{year}",),
        ]
    for name in (full, full[:3], "sept") if month == 9 else (full, full[:3]):
        ways += [(name, number), (number, name), (number, "of", name)]
    return ways


def _month(word: str) -> int:
    for index, name in enumerate(_MONTHS):
        if word == name or word == name[:3] or (index == 8 and word == "sept"):
            return index + 1
    return 0


def _unique(*ways: Words) -> tuple[Words, ...]:
    return tuple(dict.fromkeys(way for way in ways if way and all(way)))
