"""The interface of a database: it runs functions of a connection, each as one transaction.

A store passes plain functions. The database decides in which thread or task it runs them, so that a
transaction costs no more switches than its driver needs.
"""

from collections.abc import Callable
from typing import Protocol, TypeVar

from sqlalchemy import Connection

R = TypeVar("R")


class Database(Protocol):
    """Connections to a database. What goes wrong there is raised as `StoreError`."""

    @property
    def is_sqlite(self) -> bool:
        """Whether it speaks SQLite's dialect; otherwise it speaks that of Postgres."""
        ...

    async def read(self, work: Callable[[Connection], R]) -> R:
        """Run the function in a transaction that reads; its result."""
        ...

    async def write(self, work: Callable[[Connection], R]) -> R:
        """Run the function in a transaction that writes; undone where the function raises."""
        ...

    async def aclose(self) -> None:
        """Close connections, files and threads."""
        ...
