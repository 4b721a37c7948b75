"""Results of MCP servers: the words in them, and what is left of them once they are judged.

Pure. A result keeps its shape wherever that can be; where it cannot, a note stands in its place.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from taskshield.adapters import output_redaction
from taskshield.adapters.parsing.json_reader import Field, checked
from taskshield.core.decisions import Decision
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Opaque, Part, Text

CALL, READ, PROMPT = "tools/call", "resources/read", "prompts/get"

_LISTS = {READ: "contents", PROMPT: "messages"}
"""Where a result keeps what it holds; those of calls, and of calls put off, have content."""
_TASKS = "tasks/"
"""Methods by which the results of calls are fetched that were put off."""
_ENVELOPE = frozenset({"_meta", "resultType", "ttlMs", "cacheScope"})
"""Members of a result that are not for the agent."""
_DATA = "structuredContent"
"""Any JSON that a tool returns; elsewhere, members have a meaning that MCP gives them."""
_STRUCTURE = frozenset(
    {"_meta", "annotations", "blob", "data", "icons", "mimeType", "role", "type"}
)
"""Members that say how content is built, or hold no words."""
_UNREADABLE = ("image", "audio")
_NAME = re.compile(r"[\w$.:/-]{0,64}", re.ASCII)
"""Keys that are no more than a name."""

Result = Mapping[str, Any]


def is_read(method: str) -> bool:
    """Whether an agent reads the results of this method."""
    return method in (CALL, READ, PROMPT) or method.startswith(_TASKS)


def asks(result: Result) -> bool:
    """Whether the server asks the client for something before there is a result."""
    return result.get("resultType") == "input_required"


def message_of(result: Result, *, answers: str | None) -> Message:
    """A result as a message of a tool.

    Raises:
        WireFormatError: It is nested beyond reason.
    """
    checked(Field(value=dict(result), key="result"))
    judged = _judged(result)
    parts: list[Part] = [Text(text=text) for text in (*_words(judged), *_spoken_keys(judged))]
    parts += [Opaque(kind=kind) for kind in _opaque(result)]
    return Message(
        level=Level.TOOL,
        parts=tuple(parts),
        answers=answers,
        is_error=result.get("isError") is True,
    )


def rendered(method: str, result: Result, decision: Decision) -> dict[str, Any]:
    """The result as the agent may read it."""
    match decision.action:
        case "annotate":
            return _noted(method, result, decision)
        case "redact":
            left = _redacted(result, decision)
            if left is None:
                return replaced(method, result, output_redaction.note(decision))
            return _noted(method, {**result, **left}, decision)
        case "withhold":
            return replaced(method, result, output_redaction.note(decision))
        case _:
            return dict(result)


def replaced(method: str, result: Result, note: str) -> dict[str, Any]:
    """A result that holds nothing but a note."""
    envelope = {key: value for key, value in result.items() if key in _ENVELOPE}
    body: dict[str, Any] = {_list(method): [_item(method, note)]}
    if method not in _LISTS:
        body["isError"] = True  # a client must not look for the content that a schema promises
    return {**body, **envelope}


def refusal(note: str, *, modern: bool) -> dict[str, Any]:
    """The result of a call that was not carried out."""
    return replaced(CALL, {"resultType": "complete"} if modern else {}, note)


def _redacted(result: Result, decision: Decision) -> dict[str, Any] | None:
    """What is left of a result; None where misaligned words stand in keys, which must stay."""
    judged = _judged(result)
    words, keys = _words(judged), _spoken_keys(judged)
    cleaned = output_redaction.redacted(Field(value=[*words, *keys], key="result"), decision)
    assert isinstance(cleaned, list)
    if cleaned[len(words) :] != keys:
        return None
    texts = iter(cleaned)
    left: dict[str, Any] = _mapped(judged, lambda text: next(texts))
    if len(judged.get("content") or ()) < len(result.get("content") or ()):
        again = json.dumps(left[_DATA], ensure_ascii=False)
        left["content"] = [*left["content"], {"type": "text", "text": again}]
    return left


def _judged(result: Result) -> dict[str, Any]:
    """The members of a result that an agent reads, each once.

    Servers say what they return as data and, for older clients, as text again. Read twice, a
    directive would take what stands between with it.
    """
    body = {key: value for key, value in result.items() if key not in _ENVELOPE}
    data, content = body.get(_DATA), body.get("content")
    if data is None or not isinstance(content, list):
        return body
    return {**body, "content": [block for block in content if not _repeats(block, data)]}


def _repeats(block: object, data: Any) -> bool:
    """Whether a block says in text what the data says."""
    if not isinstance(block, dict) or block.get("type") != "text" or "text" not in block:
        return False
    inner = data.get("result") if isinstance(data, dict) else None
    same = [data, inner, *(inner if isinstance(inner, list) else ())]
    text = block["text"]
    try:
        return text in same or json.loads(text) in same
    except (ValueError, TypeError, RecursionError):
        return False


def _words(judged: Any) -> list[str]:
    found: list[str] = []

    def take(text: str) -> str:
        found.append(text)
        return text

    _mapped(judged, take)
    return found


def _mapped(
    value: Any, change: Callable[[str], str], structure: frozenset[str] = _STRUCTURE
) -> Any:
    """The same value with each of its texts changed, in the order in which they are read."""
    if isinstance(value, str):
        return change(value) if value else value
    if isinstance(value, list):
        return [_mapped(element, change, structure) for element in value]
    if isinstance(value, dict):
        return {
            key: member
            if key in structure
            else _mapped(member, change, frozenset() if key == _DATA else structure)
            for key, member in value.items()
        }
    return value


def _spoken_keys(judged: Result) -> list[str]:
    """Keys of data that may be sentences; to a judge they are words like any other."""
    return [key for key in _keys(judged.get(_DATA)) if not _NAME.fullmatch(key)]


def _keys(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, member in value.items():
            yield key
            yield from _keys(member)
    elif isinstance(value, list):
        for element in value:
            yield from _keys(element)


def _opaque(result: Result) -> Iterator[str]:
    """Kinds of blocks that no judge can read."""
    content = result.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") in _UNREADABLE:
            yield block["type"]


def _noted(method: str, result: Result, decision: Decision) -> dict[str, Any]:
    key = _list(method)
    held = result.get(key)
    items = held if isinstance(held, list) else []
    return {**result, key: [*items, _item(method, output_redaction.note(decision))]}


def _list(method: str) -> str:
    return _LISTS.get(method, "content")


def _item(method: str, note: str) -> dict[str, Any]:
    """The note in the shape of what the list holds."""
    block = {"type": "text", "text": note}
    if method == READ:
        return {"uri": "taskshield:note", "mimeType": "text/plain", "text": note}
    return {"role": "user", "content": block} if method == PROMPT else block
