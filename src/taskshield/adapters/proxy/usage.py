"""Tokens that were spent, in the fields of any provider."""

from collections.abc import Iterable
from typing import Any

from taskshield.adapters.proxy.exchange import Body


def added(first: Any, second: Any) -> Any:
    """The sum of two usage objects: numbers are added, of all else the second one counts."""
    if isinstance(first, dict) and isinstance(second, dict):
        return {**first, **{key: added(first.get(key), value) for key, value in second.items()}}
    if _is_number(first) and _is_number(second):
        return first + second
    return first if second is None else second


def with_usage_of(response: Body, earlier: Iterable[Body]) -> Body:
    """The last response of several rounds, with the usage of all of them.

    The client pays for every round.
    """
    total = None
    for each in (*earlier, response):
        total = added(total, each.get("usage"))
    return response if total is None else {**response, "usage": total}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
