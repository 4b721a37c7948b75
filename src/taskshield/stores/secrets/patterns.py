"""Finds secrets in text by their own shape, or by the name that stands before them.

Takes time linear in the length of the text: a pattern gives up within a fixed distance, or swallows
what it has seen. What looks like an ordinary id, a hash, an IBAN or a picture is left alone, unless
it is called a secret.
"""

import re
from collections.abc import Iterator
from typing import Literal

from taskshield.core.instructions import Span
from taskshield.core.tools import name_words
from taskshield.stores.secrets import stepwise
from taskshield.stores.secrets.key_shapes import key_pattern

_HYPHENS = "-----"
_PRIVATE_KEY, _KEY_END = (
    re.compile(rf"{_HYPHENS}{word} [A-Z0-9 ]{{0,40}}PRIVATE KEY(?: BLOCK)?{_HYPHENS}")
    for word in ("BEGIN", "END")
)
_IN_URL = re.compile(r"://[^\s/?#:@\"'<>]{0,256}:([^\s/?#\"'<>]{1,256})@")

# These are sought in lower-case text.
_SCHEME = re.compile(r"\b(?:bearer|basic) {1,8}([a-z0-9._~+/=-]{16,}+)")
_NAMED = re.compile(
    r"(?:password|passwd|passphrase|passcode|pwd|secret|key|token|authorization)s?[0-9]{0,2}"
    r"\\{0,7}[\"'`]?\s{0,3}(?P<sign>=>|:=|=|:|\bis:? )"
)

_NAME = re.compile(r"(?:[A-Za-z0-9]{1,48}[ _-])?[A-Za-z0-9_-]{1,48}\Z")
_VALUE = re.compile(
    r"\s{0,3}(?:(?P<quote>\\{0,7}[\"'`])(?P<quoted>(?:(?!(?P=quote))(?:\\.|.)){1,2000}+)"
    r"|(?:(?i:bearer|basic|token) {1,3})?(?P<plain>[^\s\"'`<>,;&(){}\[\]]{1,2000}+))"
)
_NO_VALUE = re.compile(r"\$\w*|[*.•-]+|x{3,}|(?i:none|null|nil|true|false|str|string|undefined)")

_SECRET_WORDS = (
    *("password", "passwords", "passwd", "passphrase", "passcode", "pwd"),
    *("secret", "secrets", "apikey", "authorization"),
)
_SECRET_KINDS = {
    "key": frozenset(
        "access account api auth encryption master private secret service shared signing".split()
    ),
    "token": frozenset(
        "access api auth bearer bot id oauth refresh secret security session".split()
    ),
}
_HARMLESS_TOKENS = frozenset("cancel continuation max next page sync".split())
_LOOK_BACK = 48

NameKind = Literal["secret", "doubtful"]
"""What a name says about its value: a secret, or one only if it looks random."""


def secrets(text: str) -> list[Span]:
    """The places of secrets in a text, in order and apart from each other."""
    found = sorted(_places(text), key=lambda span: (span.start, -span.end))
    apart: list[Span] = []
    for span in found:
        if apart and span.start < apart[-1].end:
            end = max(span.end, apart[-1].end)
            apart[-1] = Span(start=apart[-1].start, end=end)
        else:
            apart.append(span)
    return apart


def name_kind(name: str) -> NameKind | None:
    """What a name ("DB_PASSWORD", "apiKey", "page_token") says about its value."""
    words = [word for word in name_words(name) if not word.isdigit()]
    if not words:
        return None
    before, last = words[-2:-1], words[-1]
    if last.endswith(_SECRET_WORDS) or not _SECRET_KINDS.get(last, frozenset()).isdisjoint(before):
        return "secret"
    return "doubtful" if last == "token" and _HARMLESS_TOKENS.isdisjoint(before) else None


def is_secret_value(value: str, kind: NameKind) -> bool:
    """Whether the value of a name of this kind is a secret, or a word that stands for one."""
    if not value.strip() or _NO_VALUE.fullmatch(value):
        return False
    return kind == "secret" or _looks_random(value)


def _places(text: str) -> Iterator[Span]:
    yield from map(_span, stepwise.matches(key_pattern(), text))
    yield from _private_keys(text)
    yield from (_span(found, 1) for found in stepwise.matches(_IN_URL, text))
    lower = stepwise.lower(text)
    for found in stepwise.matches(_SCHEME, lower):
        if _looks_random(text[found.start(1) : found.end(1)]):
            yield _span(found, 1)
    yield from _named(text, lower)


def _private_keys(text: str) -> Iterator[Span]:
    """Blocks up to the next five hyphens, with the line that ends them where there is one."""
    begin = stepwise.search(_PRIVATE_KEY, text)
    while begin is not None:
        end = text.find(_HYPHENS, begin.end())
        closing = None if end < 0 else _KEY_END.match(text, end)
        end = len(text) if end < 0 else end if closing is None else closing.end()
        yield Span(start=begin.start(), end=end)
        begin = stepwise.search(_PRIVATE_KEY, text, end)


def _named(text: str, lower: str) -> Iterator[Span]:
    """Values behind names of secrets."""
    found = stepwise.search(_NAMED, lower)
    while found is not None:
        place = _value(text, found)
        if place is not None:
            yield place
        found = stepwise.search(_NAMED, lower, found.end() if place is None else place.end)


def _value(text: str, found: re.Match[str]) -> Span | None:
    """The place of the value behind a name, where it is a secret."""
    kind = _kind_before(text, found)
    value = None if kind is None else _VALUE.match(text, found.end())
    if kind is None or value is None:
        return None
    group = "plain" if value["quoted"] is None else "quoted"
    if not is_secret_value(value[group], kind) or not re.search(r"\w", value[group]):
        return None
    if group == "plain" and _is_prose(text, found["sign"], value):
        return None
    return _span(value, group)


def _kind_before(text: str, found: re.Match[str]) -> NameKind | None:
    """What the name that ends where the sign begins says; "API key" is a name of two words."""
    start = max(0, found.start() - _LOOK_BACK)
    name = _NAME.search(text[start : found.start("sign")].rstrip(" \t\r\n\\\"'`"))
    return None if name is None else name_kind(name[0])


def _is_prose(text: str, sign: str, value: re.Match[str]) -> bool:
    """Whether the words go on as a sentence does, or as a program ("password: must be long")."""
    word = value["plain"].rstrip(".!?")
    follows = text[value.end() : value.end() + 2]
    if follows[:1] in ("(", "["):
        return True
    if sign.startswith("is"):
        return word.isalpha()
    return sign == ":" and word.isalpha() and follows[:1] == " " and follows[1:].isalnum()


def _looks_random(value: str) -> bool:
    start = value[:64]
    letters = any(char.isalpha() for char in start)
    digits = any(char.isdigit() for char in start)
    return len(start) >= 16 and letters and digits and len(set(start)) >= 8


def _span(found: re.Match[str], group: int | str = 0) -> Span:
    return Span(start=found.start(group), end=found.end(group))
