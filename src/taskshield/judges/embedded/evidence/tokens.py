"""Words of a text as they are compared: case, blanks, currency signs and number formats set aside.

One word, number, time or ISO date is one token; scripts without blanks give one token a character.
A token is glued to the next where only the signs of addresses, links and paths stand between.
"""

import re
import unicodedata
from dataclasses import dataclass

_LONE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003134f"
)
_TOKEN = re.compile(
    rf"(?P<word>[^\W\d_{_LONE}][^\W_{_LONE}]*+)"
    r"|(?P<date>(?<!\d)\d{4}-\d{1,2}-\d{1,2}(?!\d))"
    r"|(?P<dotted>(?<![\d.])\d{1,2}\.\d{1,2}\.\d{4}(?!\d))"
    r"|(?P<slashed>(?<![\d/])\d{1,2}/\d{1,2}/\d{4}(?!\d))"
    r"|(?P<clock>(?<![\d:])\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:z\b| ?[ap]\.?m\b\.?)?(?![\d:]))"
    r"|(?P<hour>(?<![\d.,:])\d{1,2} ?[ap]\.?m\b\.?)"
    r"|(?P<grouped>(?<![\d.,])\d{1,3}(?:[,'’]\d{3})+(?:\.\d+)?(?![\w]))"
    r"|(?P<german>(?<![\d.,])\d{1,3}(?:\.\d{3})+,\d+(?!\w))"
    r"|(?P<decimal>(?<![\d.,])\d{1,15}[.,]\d{1,15}(?![\d]|[.,]\d|\w))"
    r"|(?P<ordinal>(?<!\w)\d{1,2}(?:st|nd|rd|th)\b)"
    rf"|(?P<lone>[{_LONE}])"
    rf"|(?P<figures>[^\W_{_LONE}]+)"
)
_SCHEMES = frozenset(["http", "https", "mailto", "www"])
_GLUE = re.compile(r"[@._\-/+\\#&?%~]+")
"""Not ":" and "=": what stands after "to:" or "to=" is a value of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """The tokens of one text."""

    words: tuple[str, ...]
    glued: tuple[bool, ...]
    """For each token, whether it is one with the next."""


def tokenize(text: str) -> Tokens:
    """The tokens of a text, in linear time."""
    text = unicodedata.normalize("NFKC", text).casefold()
    words: list[str] = []
    glued: list[bool] = []
    end = 0
    for match in _TOKEN.finditer(text):
        start = match.start()
        if text[end] != " " and words and start - end <= 4:
            gap = text[end:start]
            if words[-1] in _SCHEMES and gap[:1] in (":", "."):
                words.pop()
                glued.pop()
            else:
                glued[-1] = _GLUE.fullmatch(gap) is not None
        kind = match.lastgroup
        words.append(match[0] if kind == "word" else _normal(kind, match[0]))
        glued.append(False)
        end = match.end()
    return Tokens(words=tuple(words), glued=tuple(glued))


def token_words(text: str) -> tuple[str, ...]:
    """The words alone."""
    return tokenize(text).words


def _normal(kind: str | None, found: str) -> str:
    if kind in ("lone", "figures"):
        return found
    if kind == "date":
        return day(*(int(part) for part in found.split("-")))
    if kind == "dotted":
        return day(*(int(part) for part in reversed(found.split("."))))
    if kind == "slashed":
        return "/".join(str(int(part)) for part in found.split("/"))
    if kind in ("clock", "hour"):
        return _clock(found)
    if kind == "ordinal":
        return found[:-2]
    if kind == "grouped":
        return _decimal(re.sub(r"[,'’]", "", found))
    if kind == "german":
        return _decimal(found.replace(".", "").replace(",", "."))
    return _decimal(found.replace(",", "."))


def day(year: int, month: int, of_month: int) -> str:
    """The token of a date."""
    return f"{year:04d}-{month:02d}-{of_month:02d}"


def _clock(found: str) -> str:
    parts = re.findall(r"\d+", found)
    hour = int(parts[0])
    minute = int(parts[1]) if len(parts) > 1 else 0
    if "p" in found and hour < 12:
        hour += 12
    elif "a" in found and hour == 12:
        hour = 0
    return f"{hour:02d}:{minute:02d}"


def _decimal(found: str) -> str:
    return found.rstrip("0").rstrip(".") if "." in found else found
