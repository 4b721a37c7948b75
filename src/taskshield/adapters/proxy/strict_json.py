"""JSON of a provider, read so that no other reader can find a call in it that was not read here.

Another parser may keep the first of two members of one name, ignore case, or look for a call at
another place. So a member that is written twice is refused, and so is whatever looks like a call
where this format has none. Members that are not known are kept where they hold nothing of the kind.
"""

import json
import unicodedata
from functools import lru_cache
from typing import Any

from taskshield.adapters.parsing.json_reader import Field
from taskshield.adapters.proxy.exchange import Body
from taskshield.core.errors import WireFormatError
from taskshield.core.json_limits import check_size

_STRUCTURE = frozenset(
    {
        "choices",
        "content",
        "content_block",
        "custom",
        "delta",
        "function",
        "function_call",
        "item",
        "message",
        "output",
        "partial_json",
        "response",
        "tool_calls",
        "tool_use",
    }
)
"""Members that hold an answer or a part of it, in any format. Each format says where it has them;
elsewhere they are refused."""
_WORDS = frozenset({"type", "id", "call_id", "name", "index", "arguments", "input"})
"""Members that say something about a call, and may stand anywhere, but in this spelling only."""
_CALLS = frozenset(
    {"functioncall", "functioncalls", "toolcall", "toolcalls", "tooluse", "tooluses"}
)
_WRITTEN = frozenset({"arguments", "input"})
"""Members with what a call is made with. Beside a name, they make a call of an object."""
_NO_PLACE_FOR_CALLS = frozenset(
    {"annotations", "citations", "logprobs", "metadata", "tool_choice", "tools", "usage"}
)
"""Members without calls in every format, some of them long."""

_LONGEST = 200
"""Characters of a name that are compared; longer ones name nothing that is known."""


def object_of(text: str) -> Body:
    """The JSON object in an untrusted text.

    Raises:
        WireFormatError: It is not one, or other parsers would read it in another way.
    """
    check_size(text)
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        raise WireFormatError("a JSON object is needed, found something that is not JSON") from None
    if not isinstance(value, dict):
        raise Field(value=value, key="event").wrong("an object")
    return value


def repeats_a_member(text: str) -> bool:
    """Whether a text is JSON in which an object has two members of one name."""
    try:
        _DECODER.decode(text)
    except WireFormatError:
        return True
    except (ValueError, RecursionError):
        return False
    return False


def check_members(field: Field, *places: str) -> None:
    """Check an object of an answer that has parts of the answer in these members only.

    Raises:
        WireFormatError: It has other parts of an answer, or something that looks like a call.
    """
    for key, value in field.mapping().items():
        if not value or key in places or key in _NO_PLACE_FOR_CALLS:
            continue
        if len(key) <= _LONGEST and _is_out_of_place(key):
            raise field.refused("a member looks like a part of an answer that is not expected here")
        if isinstance(value, dict | list):
            check_has_no_call(field[key])


def check_has_no_call(field: Field) -> None:
    """Check that nothing in a value looks like a call.

    Raises:
        WireFormatError: Something does.
    """
    pending: list[Any] = [field.value]
    while pending:
        value = pending.pop()
        if isinstance(value, list):
            pending += (each for each in value if isinstance(each, dict | list))
        elif isinstance(value, dict):
            if _looks_like_call(value):
                raise field.refused("this looks like a call, which is not expected here")
            pending += (each for each in value.values() if isinstance(each, dict | list))


def _looks_like_call(value: Body) -> bool:
    """Whether an object has the type, a member or all the members of a call."""
    return (
        names_call(value.get("type"))
        or ("name" in value and not _WRITTEN.isdisjoint(value))
        or not _CALLS.isdisjoint(_plain(key) for key in value if len(key) <= _LONGEST)
    )


def names_call(kind: object) -> bool:
    """Whether a type sounds like that of a call, in any spelling."""
    return (
        isinstance(kind, str)
        and len(kind) <= _LONGEST
        and _plain(kind).endswith(("call", "tooluse"))
    )


def names_part_of_call(kind: str) -> bool:
    """Whether the type of an event sounds like that of a part of a call, in any spelling."""
    return len(kind) > _LONGEST or "call" in _plain(kind)


def kind_of(field: Field, known: frozenset[str]) -> str:
    """The type of an object, which no reader takes for one of the known types if it is none.

    Raises:
        WireFormatError: It has no type, or a known one in another spelling.
    """
    kind = field["type"].text()
    if kind not in known and len(kind) <= _LONGEST and _plain(kind) in _all_plain(known):
        raise field["type"].refused("a known type in another spelling")
    return kind


@lru_cache(1024)
def _is_out_of_place(key: str) -> bool:
    if key in _WORDS:
        return False
    plain = _plain(key)
    return plain in _CALLS or any(plain == _plain(each) for each in _STRUCTURE | _WORDS)


@lru_cache(16)
def _all_plain(known: frozenset[str]) -> frozenset[str]:
    return frozenset(_plain(word) for word in known)


@lru_cache(1024)
def _plain(word: str) -> str:
    folded = unicodedata.normalize("NFKC", word).casefold()
    return "".join(letter for letter in folded if letter.isalnum())


def _without_doubles(members: list[tuple[str, Any]]) -> Body:
    value = dict(members)
    if len(value) != len(members):
        raise WireFormatError("an object has two members of one name")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_without_doubles)
"""Made once: to make one takes as long as to read an event."""
