"""Members of chat completions that hold text or calls, checked alike in answers and chunks."""

from typing import Any

from taskshield.adapters.parsing.json_reader import Field
from taskshield.adapters.proxy.exchange import Body
from taskshield.adapters.proxy.feedback_rounds import GAP, joined
from taskshield.adapters.proxy.strict_json import check_has_no_call, check_members

CALLED = ("tool_calls", "function_call")
"""Members with calls, which are also the finish reasons that announce them."""

LEGACY = -1
"""The number of a call in the deprecated `function_call`, which has none of its own."""

_WRITTEN = {"function": "arguments", "custom": "input"}
"""Types of calls, which are also the members with the call, and where these keep its arguments."""

_PIECE = frozenset({"index", "delta", "finish_reason", "logprobs"})
_SAID = frozenset({"content", "refusal", "role"})
"""Members of a piece of text, and of what is new in it."""


def with_more(content: Any, text: str) -> Any:
    """The content of a message with one more text, after a gap."""
    if isinstance(content, list):
        return [*content, {"type": "text", "text": GAP + text}]
    return joined(content or "", text)


def check_content(field: Field) -> None:
    """Check the content of a message or a delta: a text, or parts without calls.

    Raises:
        WireFormatError: It is something else.
    """
    if isinstance(field.value, list):
        check_has_no_call(field)
        for part in field.elements():
            check_members(part, "content")
    elif field.given and not isinstance(field.value, str):
        raise field.wrong("a string or a list of parts")


def check_call(field: Field) -> None:
    """Check a call, or a piece of one: clients that go by its type and by its members agree.

    Raises:
        WireFormatError: They might not.
    """
    check_members(field, *_WRITTEN)
    kind = field["type"].text_or("")
    if kind and kind not in _WRITTEN:
        raise field["type"].refused(f"must be one of {', '.join(_WRITTEN)}")
    given = [name for name in _WRITTEN if field[name].given]
    if len(given) > 1 or (kind and given not in ([], [kind])):
        raise field.refused("the type of a call and its members contradict each other")
    for name in given:
        check_members(field[name], _WRITTEN[name])
        field[name]["name"].text_or("")


def is_text(choice: object) -> bool:
    """Whether a piece of a choice is text as providers send it, and nothing else.

    Nearly all pieces are. What this takes for text needs none of the other checks.
    """
    if not isinstance(choice, dict) or not _PIECE.issuperset(choice):
        return False
    index, delta = choice.get("index"), choice.get("delta")
    if type(index) is not int or index < 0 or not isinstance(delta, dict):
        return False
    if choice.get("finish_reason") is not None or choice.get("logprobs") is not None:
        return False
    if not _SAID.issuperset(delta):
        return False
    return all(value is None or isinstance(value, str) for value in delta.values())


def acts(choice: Body) -> bool:
    """Whether a piece of a choice is of a call or of the end: both must wait for the judge."""
    return bool(choice.get("finish_reason")) or any(choice["delta"].get(key) for key in CALLED)
