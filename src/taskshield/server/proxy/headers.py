"""Which headers go on to the upstream, and which come back. Pure."""

from collections.abc import Iterable

from taskshield.server.access.auth import KEY_HEADERS, KEY_PREFIX

Headers = list[tuple[bytes, bytes]]
"""In the order in which they came, names in any case, as ASGI gives and takes them."""

_OURS = b"x-taskshield-"
_KEY_HEADERS = frozenset(name.encode() for name in KEY_HEADERS)
_BETWEEN_NEIGHBOURS = frozenset(
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
"""What RFC 9110 means for one connection only."""
_REQUEST = frozenset({b"host", b"content-length", b"expect"})
"""What our own HTTP client says for itself."""
_RESPONSE = frozenset({b"date"})
"""What our own HTTP server says for itself."""
_BODY = frozenset({b"content-length", b"content-encoding"})
"""What is no longer true of a body that was read."""
_RENAMED = {b"x-request-id": b"x-upstream-request-id"}
"""Ours has the name already."""


def to_upstream(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """A request's headers without what is meant for us: the client's own key goes, ours stays."""
    return [
        (name, value)
        for name, value in _passed(headers, _REQUEST)
        if not name.startswith(_OURS) and not _holds_our_key(name, value)
    ]


def read_by_us(headers: Headers) -> Headers:
    """A request's headers where the answer is read here: it need not be compressed for that."""
    rest = [(name, value) for name, value in headers if name != b"accept-encoding"]
    return [*rest, (b"accept-encoding", b"identity")]


def to_client(headers: Iterable[tuple[bytes, bytes]], *, read: bool) -> Headers:
    """A response's headers.

    Args:
        headers: As the upstream sent them.
        read: Whether the body was read here, so that its length and encoding are others now.
    """
    dropped = _RESPONSE | _BODY if read else _RESPONSE
    return [(_RENAMED.get(name, name), value) for name, value in _passed(headers, dropped)]


def _passed(headers: Iterable[tuple[bytes, bytes]], dropped: frozenset[bytes]) -> Headers:
    lowered = [(name.lower(), value) for name, value in headers]
    named = {
        token.strip().lower()
        for name, value in lowered
        if name == b"connection"
        for token in value.split(b",")
    }
    gone = _BETWEEN_NEIGHBOURS | dropped | named
    return [(name, value) for name, value in lowered if name not in gone]


def _holds_our_key(name: bytes, value: bytes) -> bool:
    return name in _KEY_HEADERS and KEY_PREFIX.encode() in value
