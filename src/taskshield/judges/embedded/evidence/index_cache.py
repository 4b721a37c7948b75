"""Caches the indexes of recent conversations, so that only new text is read."""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import NamedTuple, TypeAlias

from taskshield.core import cache_sizes
from taskshield.core.judge import HistoryEntry
from taskshield.core.levels import Level
from taskshield.core.messages import digest
from taskshield.judges.embedded.evidence.conversation_index import ConversationIndex

_KEPT = 64
"""Conversations that are cached; any other is read again."""
_MOST_BYTES = 48 * 1024 * 1024
"""Bytes of all cached indexes. One that is larger is not cached."""


class _Said(NamedTuple):
    """A message of the history, as the key of an index has it."""

    number: int
    stays: bool
    """Whether a session always keeps it: it is the user's."""
    digest: str


_Key: TypeAlias = tuple[_Said, ...]


class IndexCache:
    """Keeps indexes by the messages in them, so that an index never depends on an earlier check.

    An index is given to one caller at a time, because it changes in place. Where a session has
    dropped old messages to make room for new ones, the index drops them, too.
    """

    def __init__(self, kept: int = _KEPT, most_bytes: int = _MOST_BYTES) -> None:
        self._kept = kept
        self._most_bytes = most_bytes
        self._bytes = 0
        self._indexes: OrderedDict[_Key, ConversationIndex] = OrderedDict()
        self._lock = Lock()
        self._last: tuple[Sequence[HistoryEntry], _Key] = ((), ())
        cache_sizes.report("judge_indexes", self, lambda cache: cache.bytes)

    @property
    def bytes(self) -> int:
        """Bytes of the cached indexes, roughly."""
        return self._bytes

    def take(self, history: Sequence[HistoryEntry]) -> ConversationIndex:
        """The index of this history. Only messages that no cached index has are read."""
        key = self._key(history)
        with self._lock:
            found = _best(self._indexes, key)
            index = ConversationIndex() if found is None else self._indexes.pop(found.key)
            self._bytes -= index.bytes
        known = 0
        if found is not None:
            index.forget(found.forgotten)
            known = found.known
        for turn in history[known:]:
            _add(index, turn)
        return index

    def put_back(self, history: Sequence[HistoryEntry], index: ConversationIndex) -> None:
        """Keep an index for the next message of its conversation."""
        key = self._key(history)
        with self._lock:
            if key in self._indexes:  # another check of the same conversation was faster
                self._bytes -= self._indexes.pop(key).bytes
            self._indexes[key] = index
            self._bytes += index.bytes
            while len(self._indexes) > self._kept or self._bytes > self._most_bytes:
                self._bytes -= self._indexes.popitem(last=False)[1].bytes

    def _key(self, history: Sequence[HistoryEntry]) -> _Key:
        """The history in short. The same history comes twice: to take and to put back."""
        last, key = self._last
        if last is not history:
            known = {id(turn): said for turn, said in zip(last, key, strict=True)}
            key = tuple(known.get(id(turn)) or _said(turn) for turn in history)
            if isinstance(history, tuple):  # a list may change
                self._last = history, key
        return key


class _Found(NamedTuple):
    """A cached index that can be extended to a history."""

    known: int
    """Messages of the history that the index has, from the first on."""
    key: _Key
    forgotten: int
    """Messages that the index has and the history has dropped."""


def _best(indexes: OrderedDict[_Key, ConversationIndex], key: _Key) -> _Found | None:
    """The index that has most of a history and nothing else that cannot be dropped."""
    places = {said: place for place, said in enumerate(key)}
    best: _Found | None = None
    for cached in indexes:
        known = places.get(cached[-1], -1) + 1 if cached else 0
        if known > (0 if best is None else best.known):
            forgotten = len(cached) - known
            if _leads(cached, key[:known], forgotten):
                best = _Found(known, cached, forgotten)
    return best


def _leads(cached: _Key, known: _Key, forgotten: int) -> bool:
    """Whether the first, without so many of its oldest messages but the user's, is the second."""
    if not forgotten:
        return cached == known
    if forgotten < 0 or len({said.number for said in cached}) < len(cached):
        return False
    stays, goes = ([said for said in cached if said.stays is kind] for kind in (True, False))
    return stays == [said for said in known if said.stays] and (
        goes[forgotten:] == [said for said in known if not said.stays]
    )


def _said(turn: HistoryEntry) -> _Said:
    message = turn.message
    made = (call.name for call in message.tool_calls if call.id not in turn.refused)
    return _Said(
        number=turn.index,
        stays=message.level not in (Level.ASSISTANT, Level.TOOL),
        digest=digest(message.level.name, str(turn.index), message.text, *made),
    )


def _add(index: ConversationIndex, turn: HistoryEntry) -> None:
    message = turn.message
    match message.level:
        case Level.USER:
            index.add_user(turn.index, message.text)
        case Level.ASSISTANT:
            made = [call for call in message.tool_calls if call.id not in turn.refused]
            index.add_assistant(turn.index, message.text, made)
        case Level.TOOL:
            index.add_output(turn.index, message.text)
        case Level.SYSTEM:
            pass
