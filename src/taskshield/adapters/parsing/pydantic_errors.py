"""Pydantic's complaints as errors of our own, without the values that it complains about."""

from pydantic import ValidationError

from taskshield.adapters.parsing.json_reader import Field
from taskshield.core.errors import WireFormatError

_VAGUE = {"extra_forbidden": 1, "missing": 2}
"""Errors that every wrong branch of a union adds; anything else says more."""


def wire_error(error: ValidationError, root: Field) -> WireFormatError:
    """The most telling of the errors found in `root`."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    first = min(found, key=lambda item: _VAGUE.get(item["type"], 0))
    field = _place(root, first["loc"], missing=first["type"] == "missing")
    return field.refused(first["msg"])


def _place(root: Field, steps: tuple[int | str, ...], *, missing: bool) -> Field:
    """Follow pydantic's location, without the names of union branches that it puts in between."""
    field = root
    for number, step in enumerate(steps, start=1):
        value = field.value
        if isinstance(value, dict):
            exists = step in value or (missing and number == len(steps))
            child = value.get(step)
        elif isinstance(value, list) and isinstance(step, int):
            exists = step < len(value)
            child = value[step] if exists else None
        else:
            break
        if exists:
            field = Field(value=child, key=step, parent=field)
    return field
