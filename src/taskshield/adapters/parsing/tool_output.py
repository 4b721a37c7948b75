"""The words in a tool's output, however it is built.

Every string is read, wherever it stands, in the form in which an agent would understand it; so are
keys that are sentences. `provider_blocks` says which members hold no words. What no judge can read
is listed as an unreadable part. The same walk reads an output and changes its words, so that both
go through them in the same order.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from taskshield.adapters.parsing import provider_blocks
from taskshield.adapters.parsing.encoded_text import decoded, encoded_like, spelled
from taskshield.adapters.parsing.json_reader import Field
from taskshield.core.errors import WireFormatError
from taskshield.core.json_limits import check_size
from taskshield.core.messages import Opaque, Part, Text

_T = TypeVar("_T")

_NAME = re.compile(r"[\w$.:/@-]{0,40}", re.ASCII)
_JOINTS = re.compile(r"[_.:/@-]++|(?<=[a-z])(?=[A-Z])")
_MOST_IN_NAME = 4
"""Words that a name may have; what has more is read as a sentence."""
_GLUE = re.compile(r"[_-]++|(?<=[a-z])(?=[A-Z])")
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_][\w'’-]{0,30}[.,:;!?]{0,2}")
_PIECE = re.compile(r"[A-Za-z0-9+/_=-]++\s?")
_FEWEST_WORDS = 4
"""So many elements that are a word each are one sentence."""


def output_parts(field: Field, *, sealed: bool = False) -> Iterator[Part]:
    """All the words in a result, and what in it cannot be read.

    Args:
        field: The result; checked JSON.
        sealed: Whether the provider wrote it, and has encrypted the members that say so.
    """
    parts: list[Part] = []

    def keep(text: str) -> str:
        parts.append(Text(text=text))
        return text

    def note(kind: str) -> None:
        parts.append(Opaque(kind=kind))

    if isinstance(field.value, str):
        keep(_in_clear(field.value, note))
    else:
        _Walk(keep, note, gone="", sealed=sealed).value(field.value)
    return iter(parts)


def text_parts(text: str) -> Iterator[Part]:
    """The words in a result that is a text."""
    return output_parts(Field(value=text, key="output"))


def in_clear(text: str) -> str:
    """A text as an agent understands it: JSON in it has its encoded words in the clear."""
    return _in_clear(text, lambda kind: None)


def with_changed_words(field: Field, change: Callable[[str], str], *, gone: str) -> object:
    """The same output with each of its texts changed, in the order in which they are read.

    Args:
        field: The output.
        change: Gives the new text.
        gone: Stands in place of a changed value that was encoded, unless its block needs base64. A
            member with a changed key is left out.
    """
    if isinstance(field.value, str):
        return change(field.value) if field.value else field.value
    return _Walk(change, lambda kind: None, gone=gone).value(field.value)


class _Walk:
    """Goes through an output once. It recurses: what is read is nested at most 100 levels."""

    def __init__(
        self,
        change: Callable[[str], str],
        note: Callable[[str], None],
        *,
        gone: str | None,
        sealed: bool = False,
    ) -> None:
        self._change = change
        self._note = note
        self._gone = gone
        self._sealed = sealed

    def value(self, value: object, *, noted: bool = False) -> object:
        """A value with its words changed; `noted`: what cannot be read in it is listed already."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return self._list(value, noted)
        if isinstance(value, dict):
            return self._object(value, noted)
        return value

    def _text(self, text: str) -> str:
        if not text:
            return text
        plain = decoded(text)
        if plain is not None:
            return self._instead(text, plain)
        clear = _in_clear(text, self._note)
        changed = self._change(clear)
        return text if changed == clear and self._gone is not None else changed

    def _instead(self, value: _T, plain: str) -> _T | str:
        """What stands in place of a value that says this."""
        if self._gone is None:
            return plain
        return value if self._change(plain) == plain else self._gone

    def _list(self, elements: list[object], noted: bool) -> list[object]:
        together = _sentence(elements) or spelled(elements) or _in_pieces(elements)
        if together is None:
            return [self.value(element, noted=noted) for element in elements]
        new, block = self._instead(elements, together), elements[0]
        if new is elements:
            return elements
        return [{**block, "text": new}] if isinstance(block, dict) else [new]

    def _object(self, block: Mapping[str, object], noted: bool) -> dict[str, object]:
        kind = provider_blocks.unread_kind(block)
        if kind is not None and not noted:
            self._note(kind)
            noted = True
        changed: dict[str, object] = {}
        for key, member in block.items():
            words = words_of_key(key)
            name = key if words is None else self._instead(key, words)
            new = self._member(block, key, member, noted)
            if name != self._gone:
                changed[name] = new
        return changed

    def _member(self, block: Mapping[str, object], key: str, member: object, noted: bool) -> object:
        if provider_blocks.is_label(key, member):
            return member
        if provider_blocks.is_file(block, key) or self._is_sealed(key, member):
            if not noted:
                self._note(key)
            return member
        if key == "file_id" and not noted and "text" not in block:
            self._note(key)  # the file's words are not here
        if isinstance(member, str) and provider_blocks.has_file(block, key):
            return self._file(member)
        return self.value(member, noted=noted)

    def _file(self, text: str) -> str:
        plain = decoded(text, shortest=1)
        if plain is None:
            return self._change(text) if text else text
        if self._gone is None:
            return plain
        changed = self._change(plain)
        return text if changed == plain else encoded_like(text, changed)

    def _is_sealed(self, key: str, member: object) -> bool:
        return self._sealed and key.startswith("encrypted_") and isinstance(member, str)


def _in_clear(text: str, note: Callable[[str], None]) -> str:
    """A text as an agent understands it: if it is JSON, then with its encoded words in the clear.

    It is judged instead of the text. Where nothing is encoded, it is the text itself.
    """
    if text.lstrip()[:1] not in ("{", "["):
        return text
    noted: list[str] = []
    try:
        check_size(text)
        value = json.loads(text, object_pairs_hook=_all_members)
        clear = _Walk(lambda words: words, noted.append, gone=None).value(value)
        written = text if clear == value else json.dumps(clear, ensure_ascii=False)
    except (ValueError, RecursionError, WireFormatError):  # not JSON, or too much of it
        return text
    for kind in noted:
        note(kind)
    return written


def _all_members(members: list[tuple[str, object]]) -> dict[str, object]:
    """An object; of members with one name, which readers take differently, all count."""
    value = dict(members)
    if len(value) == len(members):
        return value
    every: dict[str, list[object]] = {}
    for key, member in members:
        every.setdefault(key, []).append(member)
    return {key: given if len(given) > 1 else given[0] for key, given in every.items()}


def words_of_key(key: str) -> str | None:
    """What a key says, if it is more than a name."""
    if not _LETTER.search(key):
        return None
    if _NAME.fullmatch(key) and len(_JOINTS.split(key.strip("_-"))) <= _MOST_IN_NAME:
        return None
    plain = decoded(key)
    if plain is not None:
        return plain
    return key if " " in key else _GLUE.sub(" ", key)


def _in_pieces(elements: Sequence[object]) -> str | None:
    """The text whose encoding was cut into the elements of a list, or into blocks of text in it."""
    pieces = [_text_of(element) for element in elements]
    if len(pieces) < 2 or not all(piece and _PIECE.fullmatch(piece) for piece in pieces):
        return None
    return decoded("".join(filter(None, pieces)))


def _text_of(element: object) -> str | None:
    """A text, or that of a block which has nothing else to say."""
    if isinstance(element, dict) and element.keys() == {"type", "text"}:
        labelled = provider_blocks.is_label("type", element["type"])
        element = element["text"] if labelled else None
    return element if isinstance(element, str) else None


def _sentence(elements: Sequence[object]) -> str | None:
    """The sentence whose words are the elements of a list, or blocks of text in it."""
    if len(elements) < _FEWEST_WORDS:
        return None
    words: list[str] = []
    for element in elements:
        word = _text_of(element)
        if word is None or _WORD.fullmatch(word.strip()) is None:
            return None
        words.append(word.strip())
    return " ".join(words)
