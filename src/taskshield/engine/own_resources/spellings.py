r"""Other spellings of a command, as a shell or a program reads it.

Owns quotes, escapes, variables that the text itself sets, and base64 or hexadecimal digits. It does
not run anything: what a program computes in another way stays as it is written.
"""

import binascii
import re
import unicodedata
from collections.abc import Callable, Iterator

_ESCAPES = re.compile(
    r"\\x([0-9A-Fa-f]{2})|\\u([0-9A-Fa-f]{4})|%([0-9A-Fa-f]{2})|\\(0?[0-3][0-7]{2})"
)
_JOINTS = re.compile(r"[\"'][ \t]*+\+[ \t]*+[\"']")
"""Between two pieces of a text: `"a" + "b"`."""
_QUOTES = re.compile(r"[\"'`^]|\\(?=[\w.:/$-])|\\\r?\n")
_SET = re.compile(r"\b([A-Za-z_]\w{0,40})=[\"']?([^\s;&|\"'`()]{1,200})")
_USED = re.compile(r"\$\{?([A-Za-z_]\w{0,40})\}?")
_DEFAULT = re.compile(r"\$\{\w{1,40}:?-([^{}\n]{0,200})\}")
"""A variable with the value that it has where it is not set."""
_SINGLE = re.compile(r"\[(\w)\]")
"""A pattern for one letter: it hides a command from its own search for processes."""
_REVERSED = re.compile(r"\brev\b|reversed\(|\[::-1\]|\.reverse\(")
_CODED = re.compile(r"[A-Za-z0-9+/_-]{12,}+={0,2}")
_HEX = re.compile(r"(?:[0-9A-Fa-f]{2}){6,}+")
_MOST_USES = 200
_DEPTH = 2
"""How often something decoded is decoded again."""


def spellings(text: str, depth: int = _DEPTH) -> Iterator[str]:
    """The text, and what it may stand for. All together are a small multiple of its length."""
    plain = unicodedata.normalize("NFKC", text)
    yield plain
    decoded = _ESCAPES.sub(_unescaped, plain)
    bare = _SINGLE.sub(r"\1", _QUOTES.sub("", _JOINTS.sub("", decoded)))
    filled = _filled(_DEFAULT.sub(r"\1", bare))
    for other in dict.fromkeys((decoded, filled)):
        if other != plain:
            yield other
    if _REVERSED.search(plain):
        yield plain[::-1]
    if depth:
        for part in _decoded(filled):
            yield from spellings(part, depth - 1)


def _unescaped(match: re.Match[str]) -> str:
    *hexadecimal, octal = match.groups()
    digits = next((one for one in hexadecimal if one is not None), None)
    return chr(int(octal, 8) if digits is None else int(digits, 16))


def _filled(text: str) -> str:
    """The text with the values of the variables that it sets."""
    values = {match[1]: match[2] for match in _SET.finditer(text)}
    if not values:
        return text
    return _USED.sub(lambda match: values.get(match[1], match[0]), text, count=_MOST_USES)


def _decoded(text: str) -> Iterator[str]:
    for match in _CODED.finditer(text):
        yield from _read(_from_base64, match[0])
    for match in _HEX.finditer(text):
        yield from _read(bytes.fromhex, match[0])


def _from_base64(digits: str) -> bytes:
    bare = digits.rstrip("=").translate({ord("-"): "+", ord("_"): "/"})
    return binascii.a2b_base64(bare[: len(bare) - (len(bare) % 4 == 1)] + "=" * (-len(bare) % 4))


def _read(decode: Callable[[str], bytes], digits: str) -> Iterator[str]:
    """What the digits stand for, if that is text."""
    try:
        data = decode(digits)
        text = data.decode("utf-16-le" if data[1::2].count(0) * 3 > len(data) else "utf-8")
    except (binascii.Error, ValueError):
        return
    if text.isprintable() or any(mark in text for mark in "\n\t"):
        yield text
