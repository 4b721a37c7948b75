"""Pages of many rows, newest first, and the cursors between them.

A cursor names the last row of a page by what rows are ordered by, so that rows which come or go
meanwhile move nothing. It says nothing that its page did not say.
"""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias, TypeVar, assert_never

from taskshield.core.errors import WireFormatError
from taskshield.core.store import Approval, AuditRecord, Label, ListedSession, Page

T = TypeVar("T")


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """The position of a row: by time, then by number, then by id."""

    time: datetime
    number: int
    id: str


Placed: TypeAlias = ListedSession | AuditRecord | Approval | Label


def place(row: Placed) -> Place:
    """The position of this row among the rows of its kind."""
    match row:
        case ListedSession():
            return Place(row.updated_at, 0, row.id)
        case AuditRecord():
            return Place(row.at, row.number, row.id)
        case Approval():
            return Place(row.created_at, 0, row.id)
        case Label():
            return Place(row.at, 0, row.decision)
        case _ as unreachable:
            assert_never(unreachable)


def page(rows: Sequence[T], limit: int, at: Callable[[T], Place]) -> Page[T]:
    """The first `limit` rows; there are more where `rows` has more."""
    items = tuple(rows[:limit])
    return Page(items=items, next=_cursor(at(items[-1])) if len(rows) > limit else None)


def checked_limit(limit: int) -> int:
    """The limit, checked.

    Raises:
        WireFormatError: It is less than one.
    """
    if limit < 1:
        raise WireFormatError("limit: must be at least 1")
    return limit


def read_cursor(cursor: str) -> Place:
    """The place that a cursor stands for.

    Raises:
        WireFormatError: It was not made here.
    """
    try:
        time, number, id = json.loads(urlsafe_b64decode(cursor))
        found = Place(datetime.fromisoformat(time), number, id)
        typed = type(number) is int and isinstance(id, str)
        if typed and 0 <= number < 2**63 and _cursor(found) == cursor:
            return found
    except (ValueError, TypeError, OverflowError, RecursionError):
        pass
    raise WireFormatError(
        "after: not a cursor of this server; use the one that came with the last page"
    )


def _cursor(place: Place) -> str:
    text = json.dumps([place.time.astimezone(UTC).isoformat(), place.number, place.id])
    return urlsafe_b64encode(text.encode()).decode()
