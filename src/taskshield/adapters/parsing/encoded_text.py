"""Text that stands in a string in an encoding: base64, hexadecimal digits, a `data:` URL.

Owns what a string decodes to, and whether it is the bytes of a picture, a sound or a document. Only
whole strings are decoded; judges decode what stands within a text. Linear in the length.
"""

import re
from base64 import b64decode, b64encode
from binascii import Error
from collections import Counter
from collections.abc import Sequence
from urllib.parse import unquote_to_bytes

_SHORTEST = 16
"""Characters; shorter strings are words and ids more often than encodings."""
_GLUED = 1_000
"""Characters; what is no known file and no longer than this may be words without blanks."""
_LEVELS = 3
"""How often a text may be encoded in itself."""
_HEAD = 64
"""Characters of base64 in which the beginning of a file is recognised."""
_WINDOW, _MOST_LETTERS = 256, 64
"""Of so many characters of a file, fewer than so many stand in runs that look like words."""
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{4,}+(?:\s{1,4}+[A-Za-z0-9+/_-]++)*+={0,2}+\s*+", re.ASCII)
_WRAPPED = re.compile(r"(?:[A-Za-z0-9+/_-]{60,}+\r?\n)*+[A-Za-z0-9+/_-]*+={0,2}+\s?", re.ASCII)
_RUN = re.compile(r"[a-z]{5,}+|[A-Z]{5,}+")
_HEX = re.compile(r"(?:[0-9A-Fa-f]{2})++")
_DATA_URL = re.compile(r"data:([\w.+/-]*+)((?:;[\w.=+-]++)*+),", re.ASCII | re.IGNORECASE)
_URL_SAFE = str.maketrans("-_", "+/")
_BLANKS = re.compile(r"\s+")
_UNSHOWN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffd]")
_MOST_UNSHOWN = 10
"""One in ten characters of a text may be none that is shown: some are put in to hide the rest."""
_LETTER = re.compile(r"[^\W\d_]")
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")
_FILES = (
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"GIF87a",
    b"GIF89a",
    b"BM",
    b"II*\x00",
    b"MM\x00*",
    b"%PDF-",
    b"RIFF",
    b"OggS",
    b"fLaC",
    b"ID3",
    b"\xff\xfb",
    b"\xff\xf3",
    b"\xff\xf1",
    b"\x1aE\xdf\xa3",
    b"PK\x03\x04",
    b"\x1f\x8b",
    b"\x00\x00\x01\x00",
    b"\x00\x00\x01\xba",
    b"\x00\x00\x01\xb3",
    b"FORM",
)
"""How pictures, sounds, films, PDF, office documents and archives begin."""
_MP4 = b"ftyp"
"""What MP4, AVIF and HEIC have at the fifth byte."""


def decoded(text: str, *, shortest: int = _SHORTEST) -> str | None:
    """The text behind a string that is an encoding and nothing else; None where there is none."""
    found = None
    for _ in range(_LEVELS if len(text) >= shortest else 0):
        content = _content(text, shortest)
        read = None if content is None else _read(content)
        if read is None:
            break
        found = text = read
    return found


def word_behind(text: str) -> str | None:
    """The word or two behind base64, at a place where nothing else may stand."""
    content = _bytes(text) if len(text) <= _HEAD else None
    word = None if content is None else content.decode("utf-8", "replace")
    return word if word is not None and word.isprintable() else None


def spelled(numbers: Sequence[object]) -> str | None:
    """The text that a list of character codes or bytes spells, or a list of such lists."""
    codes: list[int] = []
    for each in numbers:
        if isinstance(each, list):
            found = list(map(_code, each))
            codes += [32] if codes else []
        else:
            found = [_code(each)]
        if 0 in found:
            return None
        codes += found
    if len(codes) < _SHORTEST:
        return None
    if max(codes) < 256 and (read := _read(bytes(codes))) is not None:
        return read
    text = "".join(map(chr, codes))
    return text if _reads(text) else None


def encoded_like(old: str, text: str) -> str:
    """A text in base64; in a `data:` URL where the old one was."""
    url = _DATA_URL.match(old)
    start = "" if url is None else f"data:{url[1]};base64,"
    return start + b64encode(text.encode("utf-8", "surrogatepass")).decode("ascii")


def text_of_file(content: bytes, media_type: str | None) -> str | None:
    """The words of a file that is a text, whatever it calls itself; None for any other."""
    if content.startswith(_FILES):
        return None
    read = _read(content)
    if read is not None or media_type is None or not media_type.startswith("text/"):
        return read
    return None if b"\x00" in content else content.decode("utf-8", "replace") or None


def is_media(text: str) -> bool:
    """Whether a string is a whole file that is no text: in base64, or in a `data:` URL."""
    url = _DATA_URL.match(text)
    body = text if url is None else text[url.end() :]
    if _WRAPPED.fullmatch(body) is None or _has_glued_words(body):
        return False
    head = _bytes(_BLANKS.sub("", body[: 2 * _HEAD])[:_HEAD])
    if head is None:
        return False
    if head.startswith(_FILES) or head[4:8] == _MP4:
        return True
    content = None if _SHORTEST <= len(body) <= _GLUED else _bytes(body)
    return content is not None and _read(content) is None


def _has_glued_words(body: str) -> bool:
    """Whether a part of it is written for readers: such a string only begins like a file."""
    letters = Counter[int]()
    for run in _RUN.finditer(body):
        repeated = 3 if len(run[0]) < 12 else 7  # files repeat some bytes, words do not
        if len(set(run[0][:_WINDOW])) > repeated:
            letters[run.start() // _WINDOW] += len(run[0])
    return max(letters.values(), default=0) > _MOST_LETTERS


def _content(text: str, shortest: int) -> bytes | None:
    url = _DATA_URL.match(text)
    if url is not None:
        body = text[url.end() :]
        return _bytes(body) if "base64" in url[2].lower() else unquote_to_bytes(body)
    text = text.strip()
    if len(text) < shortest or text.isdecimal():
        return None  # numbers decode to anything
    if _HEX.fullmatch(text):
        return bytes.fromhex(text)
    return _bytes(text) if _BASE64.fullmatch(text) else None


def _bytes(text: str) -> bytes | None:
    text = _BLANKS.sub("", text).rstrip("=").translate(_URL_SAFE)
    try:
        return b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (Error, ValueError):
        return None


def _read(content: bytes) -> str | None:
    text = content.decode(_encoding_of(content), "replace").removeprefix("\ufeff")
    return text if _reads(text) else None


def _encoding_of(content: bytes) -> str:
    """Latin letters have a zero in every other byte in UTF-16, and three of four in UTF-32."""
    zeros, odd = content.count(0), content[1::2].count(0)
    if zeros * 3 <= len(content):
        return "utf-16" if content[:2] in _WIDE_MARKS else "utf-8-sig"
    if zeros * 3 > len(content) * 2:
        return "utf-32-le" if content[:1] != b"\x00" else "utf-32-be"
    return "utf-16-le" if odd * 2 > zeros else "utf-16-be"


def _reads(text: str) -> bool:
    """Whether a text is words, and hardly anything else."""
    if len(text) < 4 or len(_UNSHOWN.findall(text)) * _MOST_UNSHOWN > len(text):
        return False
    letters = len(_LETTER.findall(text))
    blanks = len(text.split()) - 1
    if (letters + blanks) * 2 < len(text):
        return False
    return blanks > 0 or letters * 2 <= len(text.encode("utf-8", "replace")) or letters > 24


def _code(value: object) -> int:
    """The character code that a value is, also as a text or a decimal number; 0 for all else."""
    if isinstance(value, str) and len(value) < 8 and value.isascii() and value.isdecimal():
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    coded = isinstance(value, int) and not isinstance(value, bool) and 8 < value < 0x110000
    return value if coded and isinstance(value, int) else 0
