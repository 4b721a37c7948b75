"""Reads the conversations of a file, always in the same order."""

from collections.abc import Iterator

from taskshield.adapters.traces import assembly
from taskshield.audit.logs.conversation_window import CHARACTERS, Group, Window
from taskshield.audit.logs.entries import Entry, Finished, Recorded, Unreadable
from taskshield.audit.logs.formats import Part, split
from taskshield.audit.logs.input_files import Input
from taskshield.audit.logs.records import Broken, Record, records
from taskshield.core.errors import WireFormatError
from taskshield.core.levels import Level

_NO_USER = "The conversation has no message of a user, so there is no task to compare with."
_NO_CONTENT = "The trace has no messages. Configure the tracer to record content."


def entries(source: Input, *, characters: int = CHARACTERS) -> Iterator[Entry]:
    """All entries of a file. The last one is its end.

    Args:
        source: The file.
        characters: How much text of unfinished conversations is kept.

    Raises:
        MissingExtraError: The file needs an optional package.
    """
    reader = _Reader(source, Window(characters))
    for record in records(source):
        yield from reader.read(record)
    yield from reader.end()


class _Reader:
    """Reads one file."""

    def __init__(self, source: Input, window: Window) -> None:
        self._source = source
        self._window = window
        self._passed_over = 0

    def read(self, record: Record | Broken) -> Iterator[Entry]:
        """The entries that a record completes."""
        if isinstance(record, Broken):
            yield self._unreadable(record.number, record.reason, record.read)
            return
        try:
            parts = list(split(record.payload, record.number))
        except WireFormatError as error:
            yield self._unreadable(record.number, str(error), record.read)
            return
        for place, unread in enumerate(parts, start=1):
            try:
                found = unread()
            except WireFormatError as error:
                yield self._unreadable(record.number, str(error), record.read)
                continue
            if found is None:
                self._passed_over += 1
            elif isinstance(found, Part):
                for group in self._window.add(found, record.number):
                    yield from self._closed(group, record.read)
            else:
                where = f"{record.number}" if len(parts) == 1 else f"{record.number}.{place}"
                yield self._checkable(
                    Recorded(
                        file=self._source.name,
                        line=record.number,
                        id=found.id or f"{self._source.name}:{where}",
                        format=found.format,
                        conversation=found.conversation,
                        read=record.read,
                    )
                )

    def end(self) -> Iterator[Entry]:
        """The remaining entries after the last record."""
        size = self._source.size
        for group in self._window.rest():
            yield from self._closed(group, size)
        yield Finished(
            file=self._source.name,
            passed_over=self._passed_over,
            closed_early=self._window.closed_early,
            read=size,
        )

    def _closed(self, group: Group, read: int) -> Iterator[Entry]:
        """The conversations of a group."""
        if not any(piece.step.messages for piece in group.pieces):
            yield self._unreadable(group.line, _NO_CONTENT, read)
            return
        name = group.pieces[0].group
        found = assembly.conversations(group.pieces)
        if not found:
            yield self._unreadable(group.line, _NO_USER, read)
        for number, conversation in enumerate(found, start=1):
            yield self._checkable(
                Recorded(
                    file=self._source.name,
                    line=group.line,
                    id=name if number == 1 else f"{name}#{number}",
                    format=group.format,
                    conversation=conversation,
                    read=read,
                )
            )

    def _checkable(self, recorded: Recorded) -> Recorded | Unreadable:
        if any(message.level is Level.USER for message in recorded.conversation.messages):
            return recorded
        return self._unreadable(recorded.line, _NO_USER, recorded.read)

    def _unreadable(self, line: int, reason: str, read: int) -> Unreadable:
        return Unreadable(file=self._source.name, line=line, reason=reason, read=read)
