"""Core values as JSON text and back, for what is stored: session states, cases, decisions.

The text is ASCII, so it can be stored anywhere, and every value comes back equal: surrogates
without a partner, NUL and control characters included. Two things are as in Python's own JSON: a
pair of surrogates comes back as the one character it stands for, and infinite numbers are written
by name.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from taskshield.adapters.parsing.json_reader import Field, type_name
from taskshield.adapters.parsing.pydantic_errors import wire_error
from taskshield.core.errors import PrivilegeError, WireFormatError

_T = TypeVar("_T")

_LEAVES = frozenset((str, int, float, bool, type(None)))
"""Types that are in JSON what they are here."""


def dump(value: object) -> str:
    """Write a frozen dataclass of core values as JSON.

    Raises:
        WireFormatError: The value holds something that is not what its types say, or is nested
            beyond reason.
    """
    kind: Any = type(value)
    try:
        # Not pydantic's own JSON mode, which silently replaces surrogates in keys.
        return json.dumps(_plain(_adapter(kind).dump_python(value, warnings="error")))
    except (ValueError, TypeError, RecursionError):
        raise WireFormatError(f"{kind.__name__}: cannot be written as JSON") from None


def load(kind: type[_T], text: str) -> _T:
    """Read back what `dump` wrote.

    Raises:
        WireFormatError: The text is not a `kind`, or not exactly: an unknown field or a number
            written as text is an error too. The message names the path.
    """
    adapter = _adapter(cast(Any, kind))
    root = Field(value=None, key=kind.__name__)
    try:
        root = replace(root, value=json.loads(text))
        value: _T = adapter.validate_python(root.value)
        _compare(root, adapter.dump_python(value))
    except ValidationError as error:
        raise wire_error(error, root) from None
    except PrivilegeError as error:
        raise root.refused(str(error)) from None
    except (ValueError, RecursionError):  # not JSON, a number of absurd length, endless brackets
        raise root.refused("not JSON that can be read") from None
    return value


@cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _plain(value: object) -> object:
    """The value in the types that JSON has. Sets are sorted: equal values give equal text."""
    if type(value) in _LEAVES:  # almost all are, and what follows takes its time
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, frozenset):
        return sorted(map(_plain, value), key=str)
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value


def _compare(given: Field, kept: object) -> None:
    """Raise where pydantic was lenient: it reads "1" as 1 and ignores unknown fields."""
    if isinstance(kept, Mapping):
        known = {_plain(key): item for key, item in kept.items()}
        for member in given.members():
            if member.key not in known:
                raise member.refused("this field is not known")
            _compare(member, known[member.key])
    elif isinstance(kept, tuple | list):
        for element, item in zip(given.elements(), kept, strict=True):
            _compare(element, item)
    elif isinstance(kept, bool | int) and type(given.value) is not type(kept):
        raise given.wrong(type_name(kept))
    elif isinstance(kept, float) and type(given.value) not in (int, float):
        raise given.wrong(type_name(kept))
