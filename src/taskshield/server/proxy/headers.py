"""Which headers go on to the provider, and which come back. Pure."""

import re
from collections.abc import Iterable

from taskshield.server.access.api_keys import KEY_HEADERS, KEY_PREFIX

Headers = list[tuple[bytes, bytes]]
"""In the order in which they came, with names in any case, as in ASGI."""

_CHARSET = re.compile(rb"charset\s*=[\s\"']*([^\s\"';]*)")
_UTF8 = frozenset({b"utf-8", b"utf8", b"us-ascii", b"ascii"})
_OWN_PREFIX = b"x-taskshield-"
_KEY_HEADERS = frozenset(name.encode() for name in KEY_HEADERS)
_HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
"""Headers of RFC 9110 that concern one connection only."""
_REQUEST = frozenset({b"host", b"content-length", b"expect"})
"""Headers of a request that the HTTP client of this server sets itself."""
_RESPONSE = frozenset({b"date"})
"""Headers of a response that this server sets itself."""
_BODY = frozenset({b"content-length", b"content-encoding"})
"""Headers that are no longer true of a body that was read."""
_RENAMED = {b"x-request-id": b"x-upstream-request-id"}
"""This server has a header of that name."""


def to_provider(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """A request's headers without those for this server, such as a key of this server."""
    return [
        (name, value)
        for name, value in _passed(headers, _REQUEST)
        if not name.startswith(_OWN_PREFIX) and not _holds_own_key(name, value)
    ]


def uncompressed(headers: Headers) -> Headers:
    """A request's headers that ask for a response without compression."""
    others = [(name, value) for name, value in headers if name != b"accept-encoding"]
    return [*others, (b"accept-encoding", b"identity")]


def to_client(headers: Iterable[tuple[bytes, bytes]], *, read: bool) -> Headers:
    """A response's headers.

    Args:
        headers: As the provider sent them.
        read: Whether the body was read here, so that its length and encoding are others now.
    """
    dropped = _RESPONSE | _BODY if read else _RESPONSE
    return [(_RENAMED.get(name, name), value) for name, value in _passed(headers, dropped)]


def is_plain(headers: Headers) -> bool:
    """Whether the headers of a response say one thing about its body, and that it is in UTF-8."""
    lowered = [(name.lower(), value.lower()) for name, value in headers]
    types = [value for name, value in lowered if name == b"content-type"]
    encodings = [value for name, value in lowered if name == b"content-encoding"]
    if len(types) > 1 or len(encodings) > 1 or any(b"," in value for value in types):
        return False
    named = [each for value in types for each in _CHARSET.findall(value)]
    return all(charset in _UTF8 for charset in named)


def _passed(headers: Iterable[tuple[bytes, bytes]], dropped: frozenset[bytes]) -> Headers:
    lowered = [(name.lower(), value) for name, value in headers]
    named = {
        token.strip().lower()
        for name, value in lowered
        if name == b"connection"
        for token in value.split(b",")
    }
    removed = _HOP_BY_HOP | dropped | named
    return [(name, value) for name, value in lowered if name not in removed]


def _holds_own_key(name: bytes, value: bytes) -> bool:
    return name in _KEY_HEADERS and KEY_PREFIX.encode() in value
