"""The values of a call's arguments, and what kind each is by its shape.

`value_forms` has the ways in which a value may be written, `provenance` where it comes from.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from taskshield.core.json_limits import is_excessive
from taskshield.core.messages import Json, ToolCall
from taskshield.judges.embedded.evidence.tokens import token_words

Kind: TypeAlias = Literal[
    "address",
    "url",
    "account",
    "identifier",
    "number",
    "date",
    "time",
    "name",
    "path",
    "text",
    "flag",
]
"""address: e-mail. account: IBAN or long digit groups. identifier: letters and digits.
date: a day, with or without time. name: a few capitalised words. path: a file or folder.
text: any other words. flag: true, false, null or nothing."""

_DEPTH = 40
"""Arguments nested deeper than this are read as text."""
_MOST = 2000
"""Values beyond this number are left out: no legitimate call has as many."""
_SHORT = 2
"""Words up to this length say nothing about where they come from."""
_SMALL = 12
"""Whole numbers up to this one are everywhere."""

_FLAGS = frozenset(["", "true", "false", "none", "null", "yes", "no", "on", "off"])
_MONTH = (
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec|january|february|march|april|june|july"
    r"|august|september|october|november|december)"
)
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:z|[+-]\d{2}:?\d{2}| ?[ap]\.?m\.?)?"
_WRITTEN: tuple[tuple[Kind, str], ...] = (
    ("address", r"(?:mailto:)?[^\s@<>,;:]{1,64}@[^\s@<>,;:]{1,255}"),
    (
        "url",
        r"(?i:[a-z][a-z0-9+.-]{1,20}://\S+|www\.\S+|[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|edu|gov"
        r"|info|dev|app|io|ai|co|eu|uk|us|de|fr|es|nl|ch|at|it|in|jp|cn|br|au|ca)(?:/\S*)?)",
    ),
    (
        "date",
        rf"(?i:(?:\d{{4}}-\d{{1,2}}-\d{{1,2}}|\d{{1,2}}([./])\d{{1,2}}\1\d{{4}})"
        rf"(?:[t ]{_CLOCK})?"
        rf"|\d{{1,2}}(?:st|nd|rd|th|\.)? (?:of )?{_MONTH}\.?(?:,? \d{{4}})?"
        rf"|{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?)",
    ),
    ("time", rf"(?i:{_CLOCK}|\d{{1,2}} ?[ap]\.?m\.?)"),
    ("account", r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]{2,4}){2,8}|\+?\d[\d -]{8,40}\d"),
    ("number", r"[-+]?[$€£¥₹]? ?[-+]?\d[\d.,' ]{0,30} ?(?:[$€£¥₹%]|[A-Z]{3})?"),
    ("path", r"(?:[A-Za-z]:)?[\w.~ -]*[/\\][\w.~ /\\-]*|[\w-][\w. -]{0,80}\.[A-Za-z]\w{1,4}"),
    ("identifier", r"(?=\S*\d)(?=\S*[^\W\d_])[\w.:#/-]{2,80}|[^\W_]+(?:_[^\W_]+)+"),
    ("name", r"[^\W\d_a-z][\w'’.-]*(?: (?:[^\W\d_a-z][\w'’.-]*|[a-z]{1,3})){0,4}"),
)
_SHAPES = tuple((kind, re.compile(rf"\A(?:{shape})\Z")) for kind, shape in _WRITTEN)
"""Tried in this order; the first that fits the whole value wins."""
_UNMISTAKABLE = tuple(
    (kind, re.compile(rf"(?<![\w@.-])(?:{shape})(?![\w@])"))
    for kind, shape in _WRITTEN
    if kind in ("address", "url", "date", "account")
)
SHORT_TEXT = 10_000
"""Characters up to which a text is cached beside many others."""
_LOOKED_AT = 20_000
"""Characters of a text in which values are searched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentValue:
    """One value somewhere in a call's arguments."""

    path: str
    """Where it stands: "recipients[0]", "event.title"; empty where the arguments are not JSON."""
    text: str
    """As the model wrote it."""
    kind: Kind

    @property
    def trivial(self) -> bool:
        """Whether it is too common for its origin to mean anything."""
        trivial = _is_trivial if len(self.text) <= SHORT_TEXT else _is_trivial.__wrapped__
        return trivial(self)


def argument_values(call: ToolCall) -> tuple[ArgumentValue, ...]:
    """All values of a call's arguments, in order; the whole text as one where it is not JSON."""
    arguments = call.arguments
    return (_few_values if len(arguments) <= SHORT_TEXT else _many_values)(arguments)


def kind_of(text: str) -> Kind:
    """The kind of a value, by its shape alone."""
    text = text.strip()
    if text.lower() in _FLAGS:
        return "flag"
    if len(text) <= 200:
        for kind, shape in _SHAPES:
            if shape.match(text):
                return kind
    return "text"


def kinds_in(text: str) -> frozenset[Kind]:
    """Which kinds of values a text names, of those that their shape tells from other words."""
    return _kinds_in(text[:_LOOKED_AT])


@lru_cache(maxsize=16)  # the user's words are the same for many calls
def _kinds_in(text: str) -> frozenset[Kind]:
    return frozenset(
        kind
        for kind, shape in _UNMISTAKABLE
        if any(kind_of(found[0]) == kind for found in shape.finditer(text))
    )


def _argument_values(arguments: str) -> tuple[ArgumentValue, ...]:
    try:
        parsed: Json = arguments
        if not is_excessive(arguments):
            parsed = json.loads(arguments, parse_float=_Written, parse_int=_Written)
    except (ValueError, RecursionError):
        parsed = arguments
    found: list[ArgumentValue] = []
    for path, text in _leaves(parsed, "", 0):
        found.append(ArgumentValue(path=path, text=text, kind=kind_of(text)))
        if len(found) == _MOST:
            break
    return tuple(found)


# One call is compared with many texts, one after the other.
_few_values = lru_cache(maxsize=64)(_argument_values)
_many_values = lru_cache(maxsize=1)(_argument_values)


class _Written(str):
    """A number as it was written: 1e400 and 0.10 are not changed by reading them."""


def _leaves(value: Json, path: str, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and depth < _DEPTH:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else key, depth + 1)
    elif isinstance(value, list) and depth < _DEPTH:
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{index}]", depth + 1)
    elif isinstance(value, str):
        yield path, str(value)
    else:
        yield path, json.dumps(value, ensure_ascii=False)


@lru_cache(maxsize=256)
def _is_trivial(value: ArgumentValue) -> bool:
    if value.kind == "flag":
        return True
    if value.kind == "number":
        digits = re.sub(r"\D", "", value.text)
        return "." not in value.text and (not digits or int(digits[:20]) <= _SMALL)
    words = token_words(value.text)
    if not words:
        return True
    return value.kind in ("name", "text") and len(words) == 1 and _is_short(words[0])


def _is_short(word: str) -> bool:
    return len(word) <= _SHORT and (word.isascii() or len(word) < _SHORT)
