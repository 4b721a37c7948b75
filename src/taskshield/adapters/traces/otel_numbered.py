"""Messages as numbered attributes of a span, as OpenLLMetry wrote them before there was a standard.

`gen_ai.prompt.0.role`, `gen_ai.prompt.0.content`, `gen_ai.completion.0.tool_calls.0.name` and so
on, rewritten as messages of OpenAI's chat completions.
"""

from collections.abc import Mapping

PROMPT = "gen_ai.prompt"
COMPLETION = "gen_ai.completion"


def messages(attributes: Mapping[str, object], prefix: str) -> list[dict[str, object]]:
    """The messages under a prefix, in the order of their numbers."""
    return [_message(fields) for fields in _numbered(attributes, f"{prefix}.")]


def _message(fields: Mapping[str, object]) -> dict[str, object]:
    calls = []
    for call in _numbered(fields, "tool_calls."):
        function = {"name": call.get("name"), "arguments": call.get("arguments")}
        calls.append({"id": call.get("id"), "function": function})
    return {
        "role": fields.get("role"),
        "content": fields.get("content"),
        "tool_calls": calls,
        "tool_call_id": fields.get("tool_call_id"),
    }


def _numbered(fields: Mapping[str, object], prefix: str) -> list[dict[str, object]]:
    """Fields such as `prefix0.name`, by number and then by name."""
    found: dict[int, dict[str, object]] = {}
    for key, value in fields.items():
        number, dot, name = key.removeprefix(prefix).partition(".")
        if key.startswith(prefix) and dot and number.isdecimal() and len(number) < 9:
            found.setdefault(int(number), {})[name] = value
    return [found[number] for number in sorted(found)]
