"""Finds names, numbers, dates and file names by their shape and replaces them.

A replacement never depends on the words around a token. So the same token is replaced alike in the
user's words, in data, in arguments and in an attacker's goal.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

MONTHS = "January February March April May June July August September October November December"
_MONTHS = MONTHS.split()
_SHORT = [month[:3] for month in _MONTHS]
_EXTENSIONS = "pdf|csv|xlsx?|docx?|txt|md|png|jpe?g|zip|json|ya?ml|pptx?|ics|log|sql"

TOKEN = re.compile(
    r"(?P<file>[\w]+[-_][\w-]*\.(?=(?:" + _EXTENSIONS + r")\b))"
    r"|(?P<iso>(?<!\d)20[12]\d-(?:0[1-9]|1[0-2])(?:-[0-3]\d)?(?!\d|-\d))"
    r"|(?P<amount>(?<![\w.,'/:-])\d{1,3}(?:[ \u00a0\u202f]\d{3})+[.,]\d\d(?!\d)"
    r"|(?<![\w.,'/:-])\d+(?:[.,']\d{3})*(?:[.,]\d\d)?(?![\w'/:]|-\w|[.,]\d))"
    r"|(?P<digits>\d+)"
    r"|(?P<month>\b(?:" + "|".join([*_MONTHS, *_SHORT, "Sept"]) + r")\b)"
    r"|(?P<word>[^\W\d_]+)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueChanges:
    """Replacements of tokens; every other token stays."""

    words: Mapping[str, str]
    """Proper names, in lower case."""
    names: frozenset[str]
    """All known names, also those that stay."""
    runs: Mapping[str, str]
    """Runs of digits in ids, accounts and telephone numbers."""
    amounts: Mapping[Decimal, Decimal]
    years: int = 0
    """Added to every year."""
    months: int = 0
    """Added to every month; the caller ensures that none leaves its year."""
    suffix: str = ""
    """Appended to the names of files."""

    def apply_to_text(self, text: str) -> str:
        """The text with all replacements."""
        pieces = _pieces(text, self.names)
        return "".join(self._token(kind, token) if kind else token for kind, token in pieces)

    def apply_to_number(self, value: int | float) -> int | float:
        """The replacement of an argument that is a number."""
        amount = self.amounts.get(Decimal(str(value)))
        if amount is not None:
            return int(amount) if isinstance(value, int) else float(amount)
        return int(self._digits(str(value))) if isinstance(value, int) and value >= 0 else value

    def keys_in(self, text: str) -> Iterator[str | Decimal]:
        """The keys of the replacements in this text; the general ones by their field names."""
        for match in TOKEN.finditer(text):
            kind, token = str(match.lastgroup), match[0]
            if kind == "file":
                yield "suffix"
                yield from self.keys_in(token[:-1])
                yield from (piece.lower() for piece in re.findall(r"[^\W\d_]+|\d+", token))
            elif kind == "iso":
                yield from ("years", "months")
            elif kind == "month":
                yield "months"
            else:
                yield token.lower()
                amount = parse_amount(token)
                if amount is not None:
                    yield amount
                if is_year(token):
                    yield "years"

    def _token(self, kind: str, token: str) -> str:
        match kind:
            case "file":
                inner = replace(self, amounts={})
                return inner.apply_to_text(token[:-1]) + self.suffix + "."
            case "iso":
                year, month, *day = token.split("-")
                moved = [str(int(year) + self.years), f"{int(month) + self.months:02}", *day]
                return "-".join(moved)
            case "month":
                return self._month(token)
            case "word":
                return _cased(token, self.words.get(token.lower()))
            case "amount":
                amount = parse_amount(token)
                if amount is not None and amount in self.amounts:
                    return _written(self.amounts[amount], token)
        return self._digits(token)

    def _digits(self, token: str) -> str:
        if is_year(token):
            return str(int(token) + self.years)
        return self.runs.get(token, token)

    def _month(self, token: str) -> str:
        names = _MONTHS if token in _MONTHS else _SHORT
        if not self.months:
            return token
        return names[(names.index(token[:3] if names is _SHORT else token) + self.months) % 12]


@lru_cache(maxsize=4096)
def _pieces(text: str, names: frozenset[str]) -> tuple[tuple[str, str], ...]:
    """Kinds and tokens of the text; the kind is empty for a token that can never change.

    A scenario is varied many times, and most of its words are no names.
    """
    found: list[tuple[str, str]] = []
    at = 0
    for match in TOKEN.finditer(text):
        if match.lastgroup != "word" or match[0].lower() in names:
            found += [("", text[at : match.start()]), (str(match.lastgroup), match[0])]
            at = match.end()
    return (*found, ("", text[at:]))


def month_number(token: str) -> int | None:
    """The month from 1 to 12, if the token is the name of one."""
    return _SHORT.index(token[:3]) + 1 if token in _MONTHS or token[:3] in _SHORT else None


def is_year(token: str) -> bool:
    """Whether digits are a year from 2010 to 2039."""
    return len(token) == 4 and token[:2] == "20" and token[2] in "123"


def parse_amount(token: str) -> Decimal | None:
    """The value of a number as people write it, if it can be an amount."""
    found = re.fullmatch(r"(\d+|\d{1,3}(?:[.,' \u00a0\u202f]\d{3})+)(?:[.,](\d\d))?", token)
    if found is None or (token.startswith("0") and len(token) > 1 and token[1].isdigit()):
        return None
    whole = re.sub(r"\D", "", found[1])
    return Decimal(f"{whole}.{found[2]}").normalize() if found[2] else Decimal(whole)


def _written(amount: Decimal, like: str) -> str:
    found = re.fullmatch(r"(.*?)(?:([.,])(\d\d))?", like)
    assert found is not None
    whole = str(int(amount))
    separator = re.search(r"\D", found[1])
    if separator:
        whole = f"{int(amount):,}".replace(",", separator[0])
    cents = f"{amount % 1:.2f}"[2:]
    return f"{whole}{found[2]}{cents}" if found[2] else whole


def _cased(token: str, new: str | None) -> str:
    if new is None:
        return token
    if token.isupper() and len(token) > 1:
        return new.upper()
    return new.capitalize() if token[0].isupper() else new
