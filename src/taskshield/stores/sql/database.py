"""What a store needs of a database: functions of a connection, each run as one transaction.

A store says what is to be done, in plain functions. Where they are run is the database's business,
so that a transaction costs no more changes of thread or task than its driver asks for.
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
        """What the function finds."""
        ...

    async def write(self, work: Callable[[Connection], R]) -> R:
        """What the function gives; what it wrote is kept, or nothing of it where it raises."""
        ...

    async def aclose(self) -> None:
        """Close connections, files and threads."""
        ...
