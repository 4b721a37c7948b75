"""Errors of the provider, as a client may see them: an error holds no call."""

import json

from taskshield.adapters.parsing.json_reader import Field
from taskshield.adapters.proxy.sse import Splitter
from taskshield.adapters.proxy.strict_json import check_has_no_call, object_of
from taskshield.core.errors import WireFormatError
from taskshield.server.proxy.headers import Headers
from taskshield.server.proxy.provider import ProviderError, ProviderResponse

_LONGEST = 2**20
"""Bytes of an error. Longer ones are none."""


async def error_body(response: ProviderResponse) -> bytes:
    """The body of an error.

    Raises:
        ProviderError: It is not complete, or it holds a call: then the client gets an error of this
            server with the same status.
    """
    content = bytearray()
    try:
        async for chunk in response.chunks():
            content += chunk
            if len(content) > _LONGEST:
                raise WireFormatError("it is too long")
        _check(bytes(content))
    except WireFormatError:
        raise ProviderError(
            response.status,
            "upstream_invalid",
            "The provider answered with an error that holds more than an error. It was removed.",
            {name.decode(): value.decode("latin-1") for name, value in _kept(response.headers)},
        ) from None
    return bytes(content)


def _kept(headers: Headers) -> Headers:
    """The one header by which clients know when to try again."""
    return [(b"retry-after", value) for name, value in headers if name.lower() == b"retry-after"]


def _check(content: bytes) -> None:
    """Check an error, which may be JSON, a stream of events, or a page for people.

    Raises:
        WireFormatError: It holds a call.
    """
    text = content.decode("utf-8", "replace")
    if _is_json(text):
        _check_json(text)
        return
    splitter = Splitter(_LONGEST)
    for event in [*splitter.feed(content), *splitter.close()]:
        if _is_json(event.data):
            _check_json(event.data)


def _check_json(text: str) -> None:
    # Within an object, because an error need not be one.
    check_has_no_call(Field(value=object_of(f'{{"error":{text}}}'), key="error"))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
