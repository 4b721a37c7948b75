"""Rows of one kind in memory: bounded, by tenant and id, and paged newest first."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Generic, TypeVar

from taskshield.core.store import Page
from taskshield.stores.paging import Place, checked_limit, page, read_cursor

T = TypeVar("T")


class MemoryRows(Generic[T]):
    """Rows by tenant and id. The row that was written longest ago is dropped first."""

    def __init__(self, kept: int, place: Callable[[T], Place]) -> None:
        """Keep at most `kept` rows; `place` gives a row's position in its order."""
        self._kept = kept
        self._place = place
        self._rows: dict[tuple[str, str], T] = {}

    def get(self, tenant: str, id: str) -> T | None:
        """The row, or None where there is none."""
        return self._rows.get((tenant, id))

    def lacks(self, keys: Sequence[tuple[str, str]]) -> bool:
        """Whether these keys are distinct and none of them is stored."""
        return len(set(keys)) == len(keys) and self._rows.keys().isdisjoint(keys)

    def put(self, tenant: str, id: str, row: T) -> None:
        """Store a row, in place of one with the same key."""
        self._rows.pop((tenant, id), None)
        self._rows[tenant, id] = row
        if len(self._rows) > self._kept:
            del self._rows[next(iter(self._rows))]

    def remove(self, tenant: str, id: str) -> bool:
        """Delete a row; whether there was one."""
        return self._rows.pop((tenant, id), None) is not None

    def of(self, tenant: str) -> list[T]:
        """The rows of a tenant, in the order in which they were written."""
        return [row for (owner, _), row in self._rows.items() if owner == tenant]

    def page(self, rows: Iterable[T], after: str | None, limit: int) -> Page[T]:
        """One page of these rows, newest first."""
        checked_limit(limit)
        start = None if after is None else read_cursor(after)
        left = [row for row in rows if start is None or self._place(row) < start]
        return page(sorted(left, key=self._place, reverse=True), limit, self._place)

    def prune(self, cutoff: datetime | None, keep: int | None) -> int:
        """Delete rows that are too old or too many; how many were deleted."""
        before = len(self._rows)
        for tenant in {owner for owner, _ in self._rows}:
            own = [(id, row) for (owner, id), row in self._rows.items() if owner == tenant]
            own.sort(key=lambda item: self._place(item[1]), reverse=True)
            for number, (id, row) in enumerate(own):
                old = cutoff is not None and self._place(row).time < cutoff
                if old or (keep is not None and number >= keep):
                    del self._rows[tenant, id]
        return before - len(self._rows)
