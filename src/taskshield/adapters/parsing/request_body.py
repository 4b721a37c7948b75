"""Bodies of requests: bytes that should be JSON."""

import json

from taskshield.adapters.parsing.json_reader import Field, checked


def root_of_body(body: bytes | object) -> Field:
    """The body as a checked field: bytes are decoded first, anything else is JSON already.

    Raises:
        WireFormatError: It is not JSON, or nested beyond reason.
    """
    root = Field(value=None, key="body")
    if not isinstance(body, bytes):
        return checked(Field(value=body, key="body"))
    try:
        value = json.loads(body.decode("utf-8-sig"), parse_constant=_not_json)
    except (ValueError, RecursionError):  # no UTF-8, no JSON, endless digits or brackets
        raise root.refused("JSON in UTF-8 is needed") from None
    return checked(Field(value=value, key="body"))


def _not_json(constant: str) -> None:
    """NaN and the infinities, which Python reads and JSON does not know."""
    raise ValueError(constant)
