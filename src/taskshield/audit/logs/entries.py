"""The entries that an audit finds in a log."""

from dataclasses import dataclass

from taskshield.audit.logs.formats import Format
from taskshield.core.messages import Conversation


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A conversation."""

    file: str
    line: int
    """Number of its first line, sample or row."""
    id: str
    format: Format
    conversation: Conversation
    read: int
    """Bytes of the file that have been read by now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A conversation, or a part of one, that cannot be checked."""

    file: str
    line: int
    reason: str
    """Without text from the log."""
    read: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The end of a file."""

    file: str
    passed_over: int
    """Records that are no part of a conversation."""
    closed_early: int
    """Conversations that were closed before the end of the file, to bound memory."""
    read: int


Entry = Recorded | Unreadable | Finished
