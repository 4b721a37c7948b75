"""JSON, YAML and Python literals: escapes resolved, values separated, short ones with their key.

Works by local signs and not by parsing, so that broken, nested and mixed documents read as well
as clean ones, in linear time.
"""

import re
from collections.abc import Iterator, Sequence
from enum import Flag, auto

from taskshield.judges.embedded.text.control_characters import resolved
from taskshield.judges.embedded.text.tracked_text import BREAK, Edit

LONG_VALUE = 80
"""Values from this length on are separated from their key."""

_JSON = re.compile(r'[{\[,]\s*"(?:[^"\\\n]|\\.){0,100}"\s*[:,\]]')
_PYTHON = re.compile(r"[{\[(,]\s*'(?:[^'\\\n]|\\.){0,100}'\s*[:,\])]")
_YAML = re.compile(r'^[ ]{0,80}(?:- )*(?:[\w .-]{1,60}: |- )"', re.MULTILINE)
_ESCAPE = (
    r"(?=[:\\\"'{}\[\](),])"  # most characters are none of these: a quick way past them
    r"(?:(?P<path>:\\(?<=[A-Za-z]:\\)(?<![A-Za-z]{2}:\\)(?![\\\"'])[\w.\\-]{0,200})"
    r"|(?P<fold>\\\n[ \t]*(?:\\(?=[ \t]))?)"
    r"|(?P<pair>\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|(?P<code>\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2})"
    r"|(?P<doubled>''(?<=\w'')(?=\w))"
)
_STRICT = r"|(?P<char>\\[\"'\\/bfnrt_ ])"
_LOOSE = r"|(?P<char>\\(?:[\"'\\]|[nrt](?![a-z])))"
_MEANINGS = {"b": "", "f": "\n", "n": "\n", "r": "\n", "t": " ", "_": " "}


def _structure(name: str, quote: str, opening: str, closing: str) -> str:
    long_value = rf"(?=(?:[^{quote[1:-1]}\\]|\\.){{{LONG_VALUE}}})"
    return (
        rf"|(?P<{name}_long>{quote}\s*:\s*{quote}{long_value})"
        rf"|(?P<{name}_short>{quote}\s*:(?!\s*[{opening}])\s*{quote}?)"
        rf"|(?P<{name}_break>{quote}\s*:(?=\s*[{opening}])"
        rf"|{quote}\s*,\s*(?:{quote}|(?=[\d{opening}tfnNTF\-]))|,\s*{quote}"
        rf"|[{opening}]\s*{quote}|{quote}\s*[{closing}]"
        rf"|[{opening}{closing}](?=\s*(?:[{quote[1:-1]}{opening}{closing},\n]|\Z)))"
    )


_JSON_STRUCTURE = _structure("json", '["]', r"{\[", r"}\]")
_PYTHON_STRUCTURE = _structure("python", "[\"']", r"{\[(", r"}\])")
_DOUBLED = re.compile(r"(?P<doubled>''(?<=\w'')(?=\w))")
_PLAIN = re.compile(_ESCAPE + _LOOSE + ")")
_ESCAPED = re.compile(_ESCAPE + _STRICT + ")")
_WITH_JSON = re.compile(_ESCAPE + _STRICT + _JSON_STRUCTURE + ")")
_WITH_PYTHON = re.compile(_ESCAPE + _STRICT + _PYTHON_STRUCTURE + ")")


class Signs(Flag):
    """What a text has that shows how to read its quotes and escapes."""

    NONE = 0
    ESCAPE = auto()
    DOUBLED = auto()
    JSON = auto()
    PYTHON = auto()
    YAML = auto()

    @property
    def nested(self) -> bool:
        """Whether there may be JSON, YAML or Python literals with escapes in it."""
        return bool(self & Signs.ESCAPE and self & (Signs.JSON | Signs.PYTHON | Signs.YAML))


def signs(parts: Sequence[str]) -> Signs:
    """The signs of a text that is given in parts, which may overlap."""
    found = Signs.JSON if _is_one_string(parts[0], parts[-1]) else Signs.NONE
    for part in parts:
        found |= _signs(part)
    return found


def edits(text: str, found: Signs | None = None) -> Iterator[Edit]:
    """Resolve escapes and separate the values.

    Args:
        text: A text, or a part of one.
        found: The signs of the whole text; those of this text where not given.
    """
    pattern = _pattern(signs([text]) if found is None else found)
    if pattern is None:
        return
    for match in pattern.finditer(text):
        start, end = match.span()
        kind = match.lastgroup
        assert kind is not None
        if kind == "path":
            continue
        yield Edit(start, end, _meaning(kind, match[0]))


def _signs(text: str) -> Signs:
    found = Signs.NONE
    if "\\" in text:
        found |= Signs.ESCAPE
    elif '"' not in text and "'" not in text:
        return found
    for sign, pattern in ((Signs.PYTHON, _PYTHON), (Signs.JSON, _JSON), (Signs.YAML, _YAML)):
        if pattern.search(text):
            found |= sign
    return found | Signs.DOUBLED if "''" in text else found


def _is_one_string(first: str, last: str) -> bool:
    """Whether a text that begins and ends so is one JSON string."""
    begin, end = first.lstrip(), last.rstrip()
    return begin[:1] == '"' == end[-1:] and (first is not last or len(first.strip()) > 1)


def _pattern(found: Signs) -> re.Pattern[str] | None:
    if found & Signs.PYTHON:
        return _WITH_PYTHON  # knows double quotes as well
    if found & Signs.JSON:
        return _WITH_JSON
    if not found & Signs.ESCAPE:
        return _DOUBLED if found & Signs.DOUBLED else None
    return _ESCAPED if found & Signs.YAML else _PLAIN


def _meaning(kind: str, found: str) -> str:
    if kind == "fold":
        return ""
    if kind == "doubled":
        return "'"
    if kind == "char":
        return _MEANINGS.get(found[1], found[1])
    if kind == "code":
        return resolved(chr(int(found[2:], 16)))
    if kind == "pair":
        high, low = int(found[2:6], 16), int(found[8:], 16)
        return resolved(chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)))
    return ": " if kind.endswith("_short") else BREAK
