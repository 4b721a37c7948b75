"""Sessions that are stored as a head and parts, so that a message costs what is new.

Owns what a store needs for this beyond `core.store`. It is no part of the public protocol: a store
without it gets every session as one text.
"""

from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from taskshield.core.store import Store, StoredSession

PartKey: TypeAlias = tuple[str, int]
"""Kind and position of a part within its session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPart:
    """A part of a session: one message, one tool, one task, ..."""

    kind: str
    position: int
    """Parts of a kind are in the order of their positions, which may leave gaps."""
    text: str

    @property
    def key(self) -> PartKey:
        """Its kind and position."""
        return self.kind, self.position


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionHead(StoredSession):
    """A session's next version, whose state is a head: the rest of it is stored as parts."""

    parts: tuple[SessionPart, ...] = ()
    """Parts that are new or have changed."""
    removed: tuple[PartKey, ...] = ()
    """Parts that it does not have any more."""
    whole: bool = True
    """Whether `parts` are all of its parts. Otherwise the other parts stay, and the session must be
    the one that began at `created_at`: one that was deleted and began again is a conflict."""


@runtime_checkable
class PartStore(Store, Protocol):
    """A store that can keep parts.

    Its `commit` takes a `SessionHead`. A session that is committed without parts loses those that
    it had.
    """

    def document_version(self) -> int:
        """The format in which documents in this store are written; from 2 on, sessions have parts.

        It may grow while the store is open, and never shrinks.
        """
        ...

    async def parts(self, tenant: str, id: str, version: int) -> tuple[SessionPart, ...]:
        """The parts of a session in this version, by kind and position.

        Raises:
            StoreConflict: The session has another version, or there is none.
        """
        ...


def document_version(store: Store) -> int:
    """The format in which documents in this store are written: 1 where it cannot keep parts."""
    return store.document_version() if isinstance(store, PartStore) else 1
