"""Bodies of requests: bytes that should be JSON."""

from taskshield.adapters.parsing.json_reader import Field, checked
from taskshield.core.json_limits import read_json


def root_of_body(body: bytes | object) -> Field:
    """The body as a checked field: bytes are decoded first, anything else is JSON already.

    Raises:
        WireFormatError: It is not JSON, or beyond the limits of JSON from outside.
    """
    value = read_json(body) if isinstance(body, bytes) else body
    return checked(Field(value=value, key="body"))
