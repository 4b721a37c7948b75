"""Texts on which a pattern may be slow, made from the pattern itself.

For each repetition in a pattern: what comes before it once, what it repeats many times, and an end
that does not match. And for each thing that may begin a match: many beginnings in a row, each of
which may search the rest of the text.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from re import _constants as sre
from re import _parser
from typing import Any

GENERIC = (
    *(
        " ",
        "\t",
        "\n",
        "\r\n",
        " \n",
        "\t\n ",
        "a",
        "A",
        "1",
        "_",
        "-",
        ".",
        ",",
        ":",
        ";",
        "!",
        "?",
    ),
    *('"', "'", "`", "(", "[", "{", "<", ">", "|", "\\", "/", "=", "&", "#", "%", "@", "*", "~"),
    *("a ", "a\n", "a, ", "a.", "a: ", "1,", "1.", "1/", "1:", "1 ", "A.", "A ", "Aa ", "Ab ab "),
    *('\\"', "\\\\", '{"', "[[", "'' ", '", "', "a\t", "|\t", "> ", "- ", "<a ", "<a", "</", "&a"),
    *("](", "[a", "**", "_a", "a_", "``", "- - ", "Jan 1 ", "11:11 ", "0x00 ", "a-b ", "x@", "://"),
    *("é", "\u0301", "\u200b", "\u3164", "\u2800", "\U0001f600", "中", "。", "́a", "ß", "İ", "ﷺ"),
    *("the ", "to ", "please ", "and then ", "do ", "i will ", "please do the ", "A: b\n", "-a"),
)
"""Units of no pattern in particular."""
_VARIANTS = 3
"""Different samples of one part of a pattern."""
_ALTERNATIVES = 400


@dataclass(frozen=True, slots=True)
class Unit:
    """A text of any size: `before`, then `repeated` again and again, then `after`."""

    before: str
    repeated: str
    after: str

    def text(self, size: int) -> str:
        """The text with about this many characters."""
        return f"{self.before}{self.repeated * (size // len(self.repeated) + 1)}{self.after}"


def units(pattern: re.Pattern[Any]) -> list[Unit]:
    """Units made for this pattern, and those of no pattern in particular."""
    found: dict[Unit, None] = {}
    for before, repeated in _repetitions(_parsed(pattern)):
        starts = [before + repeated, before] if before else [repeated]
        for start, after in ((before, "\x00"), (f"a\n{before}", "\nx"), (before, "a")):
            found[Unit(start[-200:], repeated, after)] = None
        for one in starts:
            found[Unit("", one, "\x00")] = None
            found[Unit("a ", f"{one} ", "")] = None
            found[Unit("", f"{one} ", "qz")] = None
            found[Unit("", f"{one}\n", "")] = None
    for unit in GENERIC:
        found[Unit("", unit, "\x00")] = None
        found[Unit("a\n", unit, "\nx")] = None
    return [unit for unit in found if unit.repeated]


def _parsed(pattern: re.Pattern[Any]) -> Any:
    flags = pattern.flags & ~(re.DEBUG | 0)
    return _parser.parse(pattern.pattern, flags)


def _repetitions(tree: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """What comes before each repetition, and what it repeats."""
    for op, argument in tree:
        for inner in _inner(op, argument):
            yield from _repetitions(inner, before)
        if op in _REPEATS:
            for sample in dict.fromkeys(islice(_samples(argument[2]), 40)):
                if sample:
                    yield before, sample
        before = (before + next(_samples([(op, argument)]), ""))[-400:]


_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)


def _inner(op: Any, argument: Any) -> list[Any]:
    if op in _REPEATS:
        return [argument[2]]
    if op is sre.SUBPATTERN:
        return [argument[3]]
    if op is sre.BRANCH:
        return list(argument[1])
    if op is sre.ATOMIC_GROUP:
        return [argument]
    if op in (sre.ASSERT, sre.ASSERT_NOT):
        return [argument[1]]
    if op is sre.GROUPREF_EXISTS:
        return [one for one in argument[1:] if one is not None]
    return []


def _samples(tree: Any) -> Iterator[str]:
    """Some texts that a part of a pattern may match, the simplest first."""
    parts = [list(islice(_of_one(op, argument), _ALTERNATIVES)) or [""] for op, argument in tree]
    if not parts:
        yield ""
        return
    most = max(map(len, parts))
    for number in range(most):
        yield "".join(part[number % len(part)] for part in parts)


def _of_one(op: Any, argument: Any) -> Iterator[str]:
    if op is sre.LITERAL:
        yield chr(argument)
    elif op is sre.NOT_LITERAL:
        yield from (one for one in "a \n" if ord(one) != argument)
    elif op is sre.ANY:
        yield from "a \n"
    elif op is sre.IN:
        yield from _of_set(argument)
    elif op in _REPEATS:
        least, most, inner = argument
        for sample in islice(_samples(inner), 20):
            yield sample * max(least, min(1, int(most)))
        if not least:
            yield ""
    elif op is sre.SUBPATTERN:
        yield from _samples(argument[3])
    elif op is sre.ATOMIC_GROUP:
        yield from _samples(argument)
    elif op is sre.BRANCH:
        for branch in argument[1]:
            yield from islice(_samples(branch), _VARIANTS)
    else:
        yield ""


_TRIED = (
    " a1\tA\n.,:;-_\"'`()[]{}<>|\\/=&#%@*~!?+é中\u2801\u0430\u200b\x00\x1b\U000e0041\u1d00۔。–’•·"
)


def _of_set(members: Iterable[Any]) -> Iterator[str]:
    """Characters of a set: those that are often in sets, and the first of each range."""
    members = list(members)
    negated = bool(members) and members[0][0] is sre.NEGATE
    found = [one for one in _TRIED if _has(members[negated:], one) != negated]
    if not negated:
        for op, argument in members:
            if op is sre.LITERAL:
                found.append(chr(argument))
            elif op is sre.RANGE:
                found.append(chr(argument[0]))
    yield from dict.fromkeys(found)


_CATEGORIES = {
    sre.CATEGORY_DIGIT: re.compile(r"\d"),
    sre.CATEGORY_NOT_DIGIT: re.compile(r"\D"),
    sre.CATEGORY_SPACE: re.compile(r"\s"),
    sre.CATEGORY_NOT_SPACE: re.compile(r"\S"),
    sre.CATEGORY_WORD: re.compile(r"\w"),
    sre.CATEGORY_NOT_WORD: re.compile(r"\W"),
}


def _has(members: Iterable[Any], character: str) -> bool:
    code = ord(character)
    for op, argument in members:
        if op is sre.LITERAL and argument == code:
            return True
        if op is sre.RANGE and argument[0] <= code <= argument[1]:
            return True
        if op is sre.CATEGORY and _CATEGORIES[argument].match(character):
            return True
    return False
