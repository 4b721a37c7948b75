"""Replaces secrets in what is about to be stored.

Works on the strings of JSON and leaves everything around them as it is, so that a session or a case
is read back as before. JSON inside strings (arguments and outputs of tools) is looked into as well.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from taskshield.core.errors import WireFormatError
from taskshield.core.json_limits import read_json
from taskshield.core.messages import ToolCall
from taskshield.stores.secrets import stepwise
from taskshield.stores.secrets.patterns import is_secret_value, name_kind, secrets

MARK = "[secret]"

_NESTED = 4
"""How deep JSON is looked for in strings of JSON."""
_TEXTS = frozenset(
    "text arguments reason said does detail source scope description system"  # of the conversation
    " title default const enum examples".split()  # of the schemas of tools
)
"""Members of stored values that hold free text. All others are names that refer to each other."""
_TOKEN = re.compile(r"(?P<quote>\")|(?P<number>-?[0-9][0-9.eE+-]*+)|[{}\]]")
_COLON = re.compile(r'"\s*+:')


def redacted(text: str) -> str:
    """A text, be it JSON or not, without its secrets."""
    return _applied(text, _edits(text))


def redacted_state(state: str) -> str:
    """The JSON of a session, or of any stored value, without the secrets in its texts."""
    return _applied(state, _member_edits(state, _stored_edits))


def redacted_case(case: str) -> str:
    """The JSON of a case without its secrets; what is replayed from it has the same outcome.

    Texts become shorter and calls other calls, so places in the text and fingerprints follow.
    """
    cleaned = redacted_state(case)
    if cleaned == case:
        return case
    old, new = json.loads(case), json.loads(cleaned)
    _rename_calls(old, new)
    _move_places(old, new)
    return json.dumps(new)


@dataclass(frozen=True, slots=True)
class _Edit:
    start: int
    end: int
    text: str


_InMember = Callable[[str, str], list[_Edit]]
"""What to change in a string, given the name of the member that it belongs to."""


def _applied(text: str, edits: Sequence[_Edit]) -> str:
    pieces: list[str] = []
    end = 0
    for edit in edits:
        pieces += [text[end : edit.start], edit.text]
        end = edit.end
    return "".join([*pieces, text[end:]])


def _edits(text: str, depth: int = 0) -> list[_Edit]:
    if depth < _NESTED and text.lstrip()[:1] in ("{", "[") and _is_json(text):
        return _member_edits(text, lambda name, value: _data_edits(name, value, depth + 1))
    return [_Edit(span.start, span.end, MARK) for span in secrets(text)]


def _stored_edits(name: str, value: str) -> list[_Edit]:
    return _edits(value) if name in _TEXTS else []


def _data_edits(name: str, value: str, depth: int) -> list[_Edit]:
    kind = name_kind(name)
    if kind is not None and is_secret_value(value, kind):
        return [_Edit(0, len(value), MARK)]
    return _edits(value, depth)


def _is_json(text: str) -> bool:
    """Whether it is JSON, and no more of it than can be read."""
    try:
        read_json(text, strict=False)
    except WireFormatError:
        return False
    return True


def _member_edits(text: str, in_member: _InMember) -> list[_Edit]:
    """What to change in a JSON text, which is read as tokens: no depth is too deep."""
    edits: list[_Edit] = []
    name = ""
    token = stepwise.search(_TOKEN, text)
    while token is not None:
        start, end = token.span()
        if token["quote"]:
            end = stepwise.string_end(text, start + 1)
            if end + text.startswith("\\", end) >= len(text):
                break  # a string without an end: no JSON
            if text[end] == '"':
                colon = _COLON.match(text, end)
                literal = text[start : end + 1]
                value = literal[1:-1] if "\\" not in literal else stepwise.unescaped(literal[1:-1])
                inner = in_member(name if colon is None else "", value)
                if inner:
                    edits += _literal_edits(_Edit(start, end + 1, literal), value, inner)
                name = name if colon is None else value
                end = end + 1 if colon is None else colon.end()
            else:
                end = start + 1  # a quote that begins no string
        elif token["number"] is None:
            name = ""  # an object or a list ends, or another object begins
        elif in_member(name, token["number"]):
            edits.append(_Edit(start, end, json.dumps(MARK)))
        token = stepwise.search(_TOKEN, text, end)
    return edits


def _literal_edits(literal: _Edit, value: str, inner: list[_Edit]) -> list[_Edit]:
    """The changes within a string, as changes of the JSON around it."""
    shift = literal.start + 1
    if literal.text == f'"{value}"':  # nothing is escaped, so that every character has its place
        return [_Edit(edit.start + shift, edit.end + shift, edit.text) for edit in inner]
    return [_Edit(literal.start, literal.end, stepwise.escaped(_applied(value, inner)))]


def _rename_calls(old: dict[str, Any], new: dict[str, Any]) -> None:
    """Let the case know its own calls again by their fingerprints."""
    calls = zip(old["message"]["tool_calls"], new["message"]["tool_calls"], strict=True)
    names = {ToolCall(**a).fingerprint(): ToolCall(**b).fingerprint() for a, b in calls}
    for list_ in ("refused", "approved"):
        new[list_] = sorted({names.get(each, each) for each in new[list_]})


def _move_places(old: dict[str, Any], new: dict[str, Any]) -> None:
    """Let spans of the message's text point at the same words."""
    moved = _Moves(_message_edits(old["message"]))
    own = (task["instruction"]["origin"] for task in new["tasks"]["tasks"])
    for holder in (
        *new["assessed"],
        *(origin for origin in own if origin["message"] == new["index"]),
    ):
        if holder["span"] is not None:
            holder["span"] = moved.span(**holder["span"])


def _message_edits(message: dict[str, Any]) -> list[_Edit]:
    edits: list[_Edit] = []
    start = 0
    for part in message["parts"]:
        if "text" in part:
            found = _edits(part["text"])
            edits += [_Edit(start + each.start, start + each.end, each.text) for each in found]
            start += len(part["text"]) + 1  # parts are joined by a line break
    return edits


class _Moves:
    """Where the characters of a text are after it was changed."""

    def __init__(self, edits: Sequence[_Edit]) -> None:
        self._edits = edits
        self._starts = [edit.start for edit in edits]
        growth = (len(edit.text) - (edit.end - edit.start) for edit in edits)
        self._growth = list(accumulate(growth, initial=0))

    def span(self, start: int, end: int) -> dict[str, int]:
        """A span grows to hold what it held a part of."""
        return {"start": self._moved(start, at_end=False), "end": self._moved(end, at_end=True)}

    def _moved(self, offset: int, *, at_end: bool) -> int:
        number = bisect_right(self._starts, offset - 1) - 1  # the last change that begins before
        if number < 0:
            return offset
        edit, growth = self._edits[number], self._growth[number]
        if offset >= edit.end:
            return offset + self._growth[number + 1]
        return edit.start + growth + (len(edit.text) if at_end else 0)
