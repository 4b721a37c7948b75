"""Rows of one kind in memory: bounded, by tenant and id, and paged newest first."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Generic, TypeVar

from taskshield.core.store import Page
from taskshield.stores.paging import Place, checked_limit, page, read_cursor

T = TypeVar("T")


class MemoryRows(Generic[T]):
    """Rows by tenant and id. The row that was written longest ago is dropped first."""

    def __init__(
        self,
        kept: int,
        place: Callable[[T], Place],
        *,
        weigh: Callable[[T], int] = lambda row: 0,
        most_bytes: int = 0,
    ) -> None:
        """Make a table.

        Args:
            kept: Most rows.
            place: A row's position in its order.
            weigh: The bytes of a row, where they are limited.
            most_bytes: Most bytes of all rows together; a single row may have more.
        """
        self._kept = kept
        self._place = place
        self._weigh = weigh
        self._most_bytes = most_bytes
        self._rows: dict[tuple[str, str], T] = {}
        self._bytes: dict[tuple[str, str], int] = {}
        self.bytes = 0
        """Bytes of all rows."""

    def get(self, tenant: str, id: str) -> T | None:
        """The row, or None where there is none."""
        return self._rows.get((tenant, id))

    def lacks(self, keys: Sequence[tuple[str, str]]) -> bool:
        """Whether these keys are distinct and none of them is stored."""
        return len(set(keys)) == len(keys) and self._rows.keys().isdisjoint(keys)

    def put(self, tenant: str, id: str, row: T) -> None:
        """Store a row, in place of one with the same key."""
        key = tenant, id
        self._drop(key)
        self._rows[key] = row
        self._bytes[key] = self._weigh(row)
        self.bytes += self._bytes[key]
        while len(self._rows) > self._kept or (
            self.bytes > self._most_bytes and len(self._rows) > 1
        ):
            self._drop(next(iter(self._rows)))

    def remove(self, tenant: str, id: str) -> bool:
        """Delete a row; whether there was one."""
        return self._drop((tenant, id))

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
                    self._drop((tenant, id))
        return before - len(self._rows)

    def _drop(self, key: tuple[str, str]) -> bool:
        self.bytes -= self._bytes.pop(key, 0)
        return self._rows.pop(key, None) is not None
