"""The words in a tool's output, however it is built.

Every string is read, wherever it stands, in the form in which an agent would understand it; so are
keys that are sentences. `provider_blocks` says which members hold no words. What no judge can read
is listed as an unreadable part. The same walk reads an output and changes its words, so that both
go through them in the same order.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from taskshield.adapters.parsing import provider_blocks
from taskshield.adapters.parsing.encoded_text import decoded, spelled
from taskshield.adapters.parsing.json_reader import Field
from taskshield.core.messages import Opaque, Part, Text

_NAME = re.compile(r"[\w$.:/@-]{0,40}", re.ASCII)
_JOINTS = re.compile(r"[_.:/@-]++|(?<=[a-z])(?=[A-Z])")
_MOST_IN_NAME = 4
"""Words that a name may have; what has more is read as a sentence."""
_GLUE = re.compile(r"[_-]++|(?<=[a-z])(?=[A-Z])")
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_][\w'’-]{0,30}[.,:;!?]{0,2}")
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
        keep(field.value)
    else:
        _Walk(keep, note, gone="", sealed=sealed).value(field.value)
    return iter(parts)


def with_changed_words(field: Field, change: Callable[[str], str], *, gone: str) -> object:
    """The same output with each of its texts changed, in the order in which they are read.

    Args:
        field: The output.
        change: Gives the new text.
        gone: Stands in place of a changed value that was encoded. A member with a changed key is
            left out.
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
        gone: str,
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
        if plain is None:
            return self._change(text)
        return text if self._change(plain) == plain else self._gone

    def _list(self, elements: list[object], noted: bool) -> list[object]:
        together = _sentence(elements) or spelled(elements)
        if together is None:
            return [self.value(element, noted=noted) for element in elements]
        return elements if self._change(together) == together else [self._gone]

    def _object(self, block: Mapping[str, object], noted: bool) -> dict[str, object]:
        kind = provider_blocks.unread_kind(block)
        if kind is not None and not noted:
            self._note(kind)
            noted = True
        changed: dict[str, object] = {}
        for key, member in block.items():
            words = _words_of_key(key)
            kept = words is None or self._change(words) == words
            new = self._member(block, key, member, noted)
            if kept:
                changed[key] = new
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
        return self.value(member, noted=noted)

    def _is_sealed(self, key: str, member: object) -> bool:
        return self._sealed and key.startswith("encrypted_") and isinstance(member, str)


def _words_of_key(key: str) -> str | None:
    """What a key says, if it is more than a name."""
    if not _LETTER.search(key):
        return None
    if _NAME.fullmatch(key) and len(_JOINTS.split(key.strip("_-"))) <= _MOST_IN_NAME:
        return None
    plain = decoded(key)
    if plain is not None:
        return plain
    return key if " " in key else _GLUE.sub(" ", key)


def _sentence(elements: Sequence[object]) -> str | None:
    """The sentence whose words are the elements of a list, or blocks of text in it."""
    if len(elements) < _FEWEST_WORDS:
        return None
    words: list[str] = []
    for element in elements:
        word = element
        if isinstance(element, dict) and element.keys() == {"type", "text"}:
            word = element["text"]
        if not isinstance(word, str) or _WORD.fullmatch(word.strip()) is None:
            return None
        words.append(word.strip())
    return " ".join(words)
