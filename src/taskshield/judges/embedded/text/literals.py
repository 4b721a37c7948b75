"""JSON, YAML and Python literals: escapes resolved, values separated, short ones with their key.

Works by local signs and not by parsing, so that broken, nested and mixed documents read as well
as clean ones, in linear time.
"""

import re
from collections.abc import Iterator

from taskshield.judges.embedded.text.control_characters import resolved
from taskshield.judges.embedded.text.tracked_text import BREAK, Edit

LONG_VALUE = 80
"""Values from this length on are separated from their key."""

_JSON = re.compile(r'[{\[,]\s*"(?:[^"\\\n]|\\.){0,100}"\s*[:,\]]|\A\s*"(?s:.)*"\s*\Z')
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


def is_structured(text: str) -> bool:
    """Whether a text has signs of JSON, YAML with quotes, or Python literals."""
    return bool(_JSON.search(text) or _PYTHON.search(text) or _YAML.search(text))


def edits(text: str) -> Iterator[Edit]:
    """Resolve escapes and separate the values."""
    pattern = _pattern(text)
    if pattern is None:
        return
    for match in pattern.finditer(text):
        start, end = match.span()
        kind = match.lastgroup
        assert kind is not None
        if kind == "path":
            continue
        yield Edit(start, end, _meaning(kind, match[0]))


def _pattern(text: str) -> re.Pattern[str] | None:
    if not any(sign in text for sign in "\\\"'"):
        return None
    if _PYTHON.search(text):
        return _WITH_PYTHON  # knows double quotes as well
    if _JSON.search(text):
        return _WITH_JSON
    if "\\" not in text:
        return _DOUBLED if "''" in text else None
    return _ESCAPED if _YAML.search(text) else _PLAIN


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
