"""Texts in base64: a blob with a text is read like any other text."""

import base64
import binascii
import re
from collections.abc import Mapping

_BASE64 = re.compile(r"[A-Za-z0-9+/_=\s-]+", re.ASCII)
_TEXTUAL = re.compile(r"^text/|\b(?:json|xml|yaml|javascript|csv|html)\b", re.ASCII)
"""Media types of texts, without their parameters."""
_ODD = frozenset({*map(chr, range(32)), "\ufffd"}) - frozenset("\t\n\r\f")
"""Characters that texts do not have, and one that stands for bytes that are no character."""
_MOST_ODD = 10
"""One in ten characters of a text may be odd."""
_ALTCHARS = str.maketrans("-_", "+/")


def data_of(value: str) -> bytes | None:
    """The bytes that a text encodes; None if it is not base64."""
    if not _BASE64.fullmatch(value):
        return None
    plain = "".join(value.split()).translate(_ALTCHARS).rstrip("=")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except binascii.Error:
        return None


def text_of(data: bytes, owner: Mapping[str, object]) -> str | None:
    """The text that these bytes are; None if they are none, such as a picture.

    Args:
        data: The bytes.
        owner: The object that they are part of; its media type may call them a text.
    """
    media = owner.get("mimeType")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    text = data.decode("utf-8", "replace")
    odd = sum(character in _ODD for character in text)
    called = isinstance(media, str) and _TEXTUAL.search(media.lower()[:200].partition(";")[0])
    return text if called or odd * _MOST_ODD <= len(text) else None


def encoded(text: str) -> str:
    """The text in base64."""
    return base64.b64encode(text.encode("utf-8", "surrogatepass")).decode("ascii")
