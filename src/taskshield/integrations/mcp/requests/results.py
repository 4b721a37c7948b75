"""Results of MCP servers: the words to judge, and the result that the agent may read.

Pure. A result keeps its shape if possible; otherwise a note replaces it.
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
"""The member with the contents of a result. Results of calls and tasks have `content`."""
_TASKS = "tasks/"
"""Methods that fetch the results of calls that run as tasks."""
_ENVELOPE = frozenset({"_meta", "resultType", "ttlMs", "cacheScope"})
"""Members of a result that the agent does not read."""
_DATA = "structuredContent"
"""The JSON that a tool returns. MCP defines the meaning of all other members."""
_STRUCTURE = frozenset(
    {"_meta", "annotations", "blob", "data", "icons", "mimeType", "role", "type"}
)
"""Members that describe content or have no words."""
_UNREADABLE = ("image", "audio")
_NAME = re.compile(r"[\w$.:/-]{0,64}", re.ASCII)
"""Keys that are just a name."""

Result = Mapping[str, Any]


def is_read(method: str) -> bool:
    """Whether an agent reads the results of this method."""
    return method in (CALL, READ, PROMPT) or method.startswith(_TASKS)


def is_question(result: Result) -> bool:
    """Whether the server needs input from the client before it can answer."""
    return result.get("resultType") == "input_required"


def message_of(result: Result, *, answers: str | None) -> Message:
    """A result as a message of a tool.

    Raises:
        WireFormatError: It is nested too deeply.
    """
    checked(Field(value=dict(result), key="result"))
    members = _readable(result)
    parts: list[Part] = [Text(text=text) for text in (*_words(members), *_sentence_keys(members))]
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
            redacted = _redacted(result, decision)
            if redacted is None:
                return replaced(method, result, output_redaction.note(decision))
            return _noted(method, {**result, **redacted}, decision)
        case "withhold":
            return replaced(method, result, output_redaction.note(decision))
        case _:
            return dict(result)


def replaced(method: str, result: Result, note: str) -> dict[str, Any]:
    """A result that has only a note."""
    envelope = {key: value for key, value in result.items() if key in _ENVELOPE}
    body: dict[str, Any] = {_list(method): [_item(method, note)]}
    if method not in _LISTS:
        body["isError"] = (
            True  # the client must not expect the data that the tool's schema requires
        )
    return {**body, **envelope}


def refusal(note: str, *, modern: bool) -> dict[str, Any]:
    """The result of a blocked call."""
    return replaced(CALL, {"resultType": "complete"} if modern else {}, note)


def _redacted(result: Result, decision: Decision) -> dict[str, Any] | None:
    """The redacted result; None if misaligned words are in keys, which cannot be changed."""
    members = _readable(result)
    words, keys = _words(members), _sentence_keys(members)
    cleaned = output_redaction.redacted(Field(value=[*words, *keys], key="result"), decision)
    assert isinstance(cleaned, list)
    if cleaned[len(words) :] != keys:
        return None
    texts = iter(cleaned)
    remaining: dict[str, Any] = _mapped(members, lambda text: next(texts))
    if len(members.get("content") or ()) < len(result.get("content") or ()):
        copy = json.dumps(remaining[_DATA], ensure_ascii=False)
        remaining["content"] = [*remaining["content"], {"type": "text", "text": copy}]
    return remaining


def _readable(result: Result) -> dict[str, Any]:
    """The members of a result that an agent reads, without repetitions.

    For older clients, servers return their data a second time as text. If a directive were found
    twice, redaction would also remove what is between the two places.
    """
    body = {key: value for key, value in result.items() if key not in _ENVELOPE}
    data, content = body.get(_DATA), body.get("content")
    if data is None or not isinstance(content, list):
        return body
    return {**body, "content": [block for block in content if not _repeats(block, data)]}


def _repeats(block: object, data: Any) -> bool:
    """Whether a block of text repeats the data."""
    if not isinstance(block, dict) or block.get("type") != "text" or "text" not in block:
        return False
    inner = data.get("result") if isinstance(data, dict) else None
    same = [data, inner, *(inner if isinstance(inner, list) else ())]
    text = block["text"]
    try:
        return text in same or json.loads(text) in same
    except (ValueError, TypeError, RecursionError):
        return False


def _words(members: Any) -> list[str]:
    found: list[str] = []

    def take(text: str) -> str:
        found.append(text)
        return text

    _mapped(members, take)
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


def _sentence_keys(members: Result) -> list[str]:
    """Keys of data that may be sentences; they are judged as well."""
    return [key for key in _keys(members.get(_DATA)) if not _NAME.fullmatch(key)]


def _keys(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, member in value.items():
            yield key
            yield from _keys(member)
    elif isinstance(value, list):
        for element in value:
            yield from _keys(element)


def _opaque(result: Result) -> Iterator[str]:
    """Kinds of blocks that a judge cannot read."""
    content = result.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") in _UNREADABLE:
            yield block["type"]


def _noted(method: str, result: Result, decision: Decision) -> dict[str, Any]:
    key = _list(method)
    contents = result.get(key)
    items = contents if isinstance(contents, list) else []
    return {**result, key: [*items, _item(method, output_redaction.note(decision))]}


def _list(method: str) -> str:
    return _LISTS.get(method, "content")


def _item(method: str, note: str) -> dict[str, Any]:
    """The note in the format of the list's items."""
    block = {"type": "text", "text": note}
    if method == READ:
        return {"uri": "taskshield:note", "mimeType": "text/plain", "text": note}
    return {"role": "user", "content": block} if method == PROMPT else block
