"""Results of MCP servers: the words to judge, and the result that the agent may read.

Pure. A result keeps its shape if possible; otherwise a note replaces it. What is judged of it
belongs to `words.contents`.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from taskshield.adapters import output_redaction
from taskshield.adapters.parsing.json_reader import Field
from taskshield.adapters.parsing.provider_blocks import is_label
from taskshield.core.decisions import Decision
from taskshield.core.errors import WireFormatError
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Opaque, Part, Text
from taskshield.integrations.mcp.words.contents import DATA, with_texts, words_of

CALL, READ, PROMPT = "tools/call", "resources/read", "prompts/get"

_LISTS = {CALL: "content", READ: "contents", PROMPT: "messages", "tasks/result": "content"}
"""The member with the contents of a result. Other results have no place for a note."""
_ENVELOPE = ("resultType", "ttlMs", "cacheScope")
"""Members of a result that only the client reads."""
_MOST_BLOCKS = 5_000
"""Most contents of a result."""
_OURS = "taskshield/"
"""What the names in `_meta` begin with that only the gateway may use."""

Result = Mapping[str, Any]


def message_of(result: Result, *, answers: str | None) -> Message:
    """A result as a message of a tool.

    Raises:
        WireFormatError: It is nested too deeply, or has too many parts.
    """
    _check_count(result)
    try:
        words = words_of(_readable(result))
    except (ValueError, RecursionError):  # too deep, or a number with too many digits
        raise WireFormatError("result: it cannot be read") from None
    parts: list[Part] = [Text(text=text) for text in words.all]
    parts += [Opaque(kind=kind) for kind in words.unreadable]
    return Message(
        level=Level.TOOL,
        parts=tuple(parts),
        answers=answers,
        is_error=result.get("isError") is True,
    )


def rendered(method: str, result: Result, decision: Decision) -> dict[str, Any] | None:
    """The result as the agent may read it; None if nothing of it may pass, and no note fits."""
    if method not in _LISTS and decision.check == "failed" and decision.action != "allow":
        return None
    match decision.action:
        case "annotate" if method in _LISTS:
            return _noted(method, result, decision)
        case "redact" | "annotate":
            redacted = _redacted(result, decision)
            if redacted is None:
                return replaced(method, result, output_redaction.note(decision))
            return _noted(method, redacted, decision)
        case "withhold":
            return replaced(method, result, output_redaction.note(decision))
        case _:
            return dict(result)


def replaced(method: str, result: Result, note: str) -> dict[str, Any] | None:
    """A result that has only a note; None if results of this method have no place for one."""
    if method not in _LISTS:
        return None
    envelope = {key: result[key] for key in _ENVELOPE if _is_wordless(key, result.get(key))}
    body: dict[str, Any] = {_LISTS[method]: [_item(method, note)]}
    if _LISTS[method] == "content":
        # The client must not expect the data that the tool's schema requires.
        body["isError"] = True
    return {**body, **envelope}


def refusal(note: str, *, modern: bool) -> dict[str, Any]:
    """The result of a blocked call."""
    envelope = {"resultType": "complete"} if modern else {}
    return {"content": [_item(CALL, note)], "isError": True, **envelope}


def without_ours(result: Result) -> dict[str, Any]:
    """The result without names that only the gateway uses."""
    meta = result.get("_meta")
    if not isinstance(meta, Mapping) or not any(key.startswith(_OURS) for key in meta):
        return dict(result)
    kept = {key: value for key, value in meta.items() if not key.startswith(_OURS)}
    return {**result, "_meta": kept}


def _is_wordless(key: str, value: object) -> bool:
    return is_label(key, value) or isinstance(value, int | float)


def _check_count(result: Result) -> None:
    for name in _LISTS.values():
        contents = result.get(name)
        if isinstance(contents, list) and len(contents) > _MOST_BLOCKS:
            raise WireFormatError(f"result.{name}: more than {_MOST_BLOCKS} parts")


def _redacted(result: Result, decision: Decision) -> dict[str, Any] | None:
    """The redacted result; None if words are misaligned that have no place to be changed in."""
    readable = _readable(result)
    words = words_of(readable)
    cleaned = output_redaction.redacted(Field(value=words.all, key="result"), decision)
    assert isinstance(cleaned, list)
    if tuple(cleaned[len(words.texts) :]) != words.beside:
        return None
    remaining = with_texts(readable, cleaned)
    if len(readable.get("content") or ()) < len(result.get("content") or ()):
        copy = json.dumps(remaining[DATA], ensure_ascii=False)
        remaining["content"] = [*remaining["content"], {"type": "text", "text": copy}]
    return remaining


def _readable(result: Result) -> dict[str, Any]:
    """The members of a result that an agent reads, without repetitions.

    For older clients, servers return their data a second time as text. If a directive were found
    twice, redaction would also remove what is between the two places.
    """
    data, content = result.get(DATA), result.get("content")
    if data is None or not isinstance(content, list):
        return dict(result)
    same = set(_spellings(data))
    return {**result, "content": [block for block in content if not _repeats(block, same)]}


def _spellings(data: Any) -> Iterator[str]:
    """The data as texts that would repeat it, in one form."""
    inner = data.get("result") if isinstance(data, dict) else None
    for value in (data, inner, *(inner if isinstance(inner, list) else ())):
        if value is not None:
            yield _canonical(value)
        if isinstance(value, str):
            yield value


def _repeats(block: object, same: set[str]) -> bool:
    """Whether a block has no words but those of the data."""
    if not isinstance(block, dict) or block.keys() != {"type", "text"} or block["type"] != "text":
        return False
    text = block["text"]
    if not isinstance(text, str):
        return False
    try:
        return text in same or _canonical(json.loads(text, object_pairs_hook=_unique)) in same
    except (ValueError, RecursionError):
        return False


def _canonical(value: object) -> str:
    return "json:" + json.dumps(value, sort_keys=True)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object; readers do not agree which of two members with one name counts."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError
    return members


def _noted(method: str, result: Result, decision: Decision) -> dict[str, Any]:
    if method not in _LISTS:
        return dict(result)
    key = _LISTS[method]
    contents = result.get(key)
    items = contents if isinstance(contents, list) else []
    return {**result, key: [*items, _item(method, output_redaction.note(decision))]}


def _item(method: str, note: str) -> dict[str, Any]:
    """The note in the format of the list's items."""
    block = {"type": "text", "text": note}
    if method == READ:
        return {"uri": "taskshield:note", "mimeType": "text/plain", "text": note}
    return {"role": "user", "content": block} if method == PROMPT else block
