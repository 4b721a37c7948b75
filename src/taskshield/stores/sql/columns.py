"""Column types: core values written so that both databases take them and give them back equal."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

from sqlalchemy import DateTime, Dialect, Text, TypeDecorator

from taskshield.core.store import Scope
from taskshield.core.tools import Tier
from taskshield.stores.sql.failures import DamagedValue
from taskshield.stores.storable_text import restored, storable

T = TypeVar("T")


class _Stored(TypeDecorator[T]):
    """A value that is read with care: it may be damaged.

    Reading raises `DamagedValue` where it is none of its column.
    """

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], T | None]:
        """What reads a value."""
        read = super().result_processor(dialect, coltype)
        assert read is not None

        def careful(value: Any) -> T | None:
            try:
                return read(value)
            except (ValueError, TypeError, AttributeError, RecursionError):
                raise DamagedValue from None

        return careful


class AnyText(_Stored[str]):
    """Any Python string."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """On the way in."""
        return None if value is None else storable(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """On the way out."""
        return None if value is None else restored(value)


class UtcTime(_Stored[datetime]):
    """A moment. SQLite has no time zones, so all are written in UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """On the way in."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a time zone is no moment")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """On the way out."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class TierName(_Stored[Tier]):
    """A risk tier."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Tier | None, dialect: Dialect) -> str | None:
        """On the way in."""
        return None if value is None else value.value

    def process_result_value(self, value: str | None, dialect: Dialect) -> Tier | None:
        """On the way out."""
        return None if value is None else Tier(value)


class ScopeNames(_Stored[frozenset[Scope]]):
    """The scopes of a key, with blanks between them."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: frozenset[Scope] | None, dialect: Dialect) -> str | None:
        """On the way in."""
        return None if value is None else " ".join(sorted(value))

    def process_result_value(self, value: str | None, dialect: Dialect) -> frozenset[Scope] | None:
        """On the way out."""
        return None if value is None else frozenset(cast(list[Scope], value.split()))


class Words(_Stored[tuple[str, ...]]):
    """A few texts, in order, as JSON; it is ASCII, so every database takes it."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: tuple[str, ...] | None, dialect: Dialect) -> str | None:
        """On the way in."""
        return None if value is None else json.dumps(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> tuple[str, ...] | None:
        """On the way out."""
        return None if value is None else tuple(json.loads(value))
