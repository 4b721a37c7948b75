"""JSON that stands as text within JSON, as in attributes of spans and columns of exports."""

from taskshield.adapters.parsing.json_reader import Field, checked
from taskshield.core.errors import WireFormatError
from taskshield.core.json_limits import read_json


def parse_nested(value: object, key: str) -> Field:
    """A value that is JSON or may be written as JSON text. Other text stays what it is.

    Raises:
        WireFormatError: It begins as JSON does and cannot be read, e.g. because it was cut short.
            Reading the fragments as text would give data the privilege of the message around it.
    """
    field = Field(value=value, key=key)
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return field
    try:
        inner = read_json(value)
    except WireFormatError:
        raise field.refused(
            "this JSON text cannot be read; it may have been cut short when it was recorded"
        ) from None
    return checked(Field(value=inner, key=key))
