"""Errors of the provider, as a client may see them: an error holds no call."""

import json
from typing import Any

from taskshield.adapters.parsing.json_reader import Field
from taskshield.adapters.proxy.sse import Splitter
from taskshield.adapters.proxy.strict_json import check_has_no_call, object_of
from taskshield.core.errors import WireFormatError
from taskshield.server.proxy.provider import ProviderResponse

_LONGEST = 2**20
"""Bytes of an error. Longer ones are none."""
_REPLACED: Any = {
    "type": "error",
    "error": {
        "type": "api_error",
        "message": "[Task Shield] The provider answered with an error that holds more than an"
        " error. It was removed.",
        "param": None,
        "code": "upstream_invalid",
    },
}


async def error_body(response: ProviderResponse) -> bytes:
    """The body of an error, or another one where it holds a call.

    Raises:
        ProviderError: It is not complete.
    """
    content = bytearray()
    try:
        async for chunk in response.chunks():
            content += chunk
            if len(content) > _LONGEST:
                raise WireFormatError("it is too long")
        _check(bytes(content))
    except WireFormatError:
        return json.dumps(_REPLACED).encode()
    return bytes(content)


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
