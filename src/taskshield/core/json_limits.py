"""Reads untrusted JSON whose size in memory is bounded before any of it is built.

One byte of JSON can become eighty in memory, so a limit on bytes bounds nothing. Values, keys and
levels are counted in the bytes, without parsing them: in linear time, and nearly all of it in a few
passes at the speed of memory.
"""

import json
import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from taskshield.core.errors import WireFormatError

Excess: TypeAlias = Literal["depth", "values", "keys"]
"""What JSON has too much of."""

_STRUCTURE = re.compile(rb"[\[\]{},]")


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonLimits:
    """How much JSON is read."""

    depth: int = 100
    """Deepest nesting."""
    values: int = 200_000
    """Most values of all kinds, those in lists and objects included."""
    keys: int = 10_000
    """Most members of one object."""


LIMITS = JsonLimits()


class JsonTooLarge(WireFormatError):
    """JSON beyond a limit. Nothing of it was parsed."""

    def __init__(self, excess: Excess, limits: JsonLimits) -> None:
        most: int = getattr(limits, excess)
        said = {
            "depth": f"nested more than {most} levels deep",
            "values": f"more than {most} values",
            "keys": f"an object with more than {most} members",
        }
        super().__init__(f"body: {said[excess]}")
        self.excess = excess


def read_json(text: bytes | str, limits: JsonLimits = LIMITS, *, strict: bool = True) -> object:
    """Read JSON: bytes in UTF-8, or text.

    Args:
        text: What should be JSON.
        limits: How much of it is read.
        strict: Whether NaN and the infinities are refused, which Python reads and JSON lacks.

    Raises:
        JsonTooLarge: It is beyond the limits.
        WireFormatError: It is not JSON.
    """
    check_size(text, limits)
    try:
        decoded = text.decode("utf-8-sig") if isinstance(text, bytes) else text
        return json.loads(decoded, parse_constant=_not_json if strict else None)
    except (ValueError, RecursionError):  # no UTF-8, no JSON, endless digits or brackets
        raise WireFormatError("body: JSON in UTF-8 is needed") from None


def check_size(text: bytes | str, limits: JsonLimits = LIMITS) -> None:
    """Check JSON before it is parsed.

    Raises:
        JsonTooLarge: It is beyond the limits.
    """
    given = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    excess = excess_of(given, limits)
    if excess is not None:
        raise JsonTooLarge(excess, limits)


def excess_of(text: bytes, limits: JsonLimits) -> Excess | None:
    """What this JSON has too much of; None where it is within the limits."""
    openings = text.count(b"[") + text.count(b"{")
    if openings <= limits.depth and openings + text.count(b",") < min(limits.values, limits.keys):
        return None
    # A value has two strings at most: its key and itself.
    unescaped = text.replace(b"\\\\", b"").replace(b'\\"', b"") if b"\\" in text else text
    if unescaped.count(b'"') > 4 * limits.values:
        return "values"
    outside = b"".join(unescaped.split(b'"')[::2])
    if outside.count(b"[") + outside.count(b"{") + outside.count(b",") >= limits.values:
        return "values"
    return _excess_of_structure(outside, limits)


def is_excessive(text: str) -> bool:
    """Whether a text is beyond the limits, if it is JSON."""
    return excess_of(text.encode("utf-8", "surrogatepass"), LIMITS) is not None


def _excess_of_structure(outside: bytes, limits: JsonLimits) -> Excess | None:
    """The same, from what stands outside of strings."""
    members = [0]
    """Of each object that is open: its members so far. A list has 0 for ever."""
    for sign in _STRUCTURE.findall(outside):
        if sign == b",":
            if members[-1]:
                members[-1] += 1
                if members[-1] > limits.keys:
                    return "keys"
        elif sign in b"[{":
            members.append(int(sign == b"{"))
            if len(members) > limits.depth + 1:
                return "depth"
        elif len(members) > 1:
            members.pop()
    return None


def _not_json(constant: str) -> None:
    raise ValueError(constant)
