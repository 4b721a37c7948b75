"""The words in a tool's output, however it is built."""

from collections.abc import Iterator

from taskshield.adapters.parsing.json_reader import Field
from taskshield.core.messages import Opaque, Part, Text

_LABELS = frozenset(
    {
        "cache_control",
        "caller",
        "citations",
        "id",
        "is_error",
        "media_type",
        "mimeType",
        "tool_use_id",
        "toolset_name",
        "type",
    }
)
"""Members of a result that say how it is built and hold no words for the agent."""
_UNREADABLE = frozenset({"blob", "data", "file_id", "signature"})
_MEDIA_SOURCES = frozenset({"base64", "file", "url"})


def output_parts(field: Field) -> Iterator[Part]:
    """All the words in a result, however it is built.

    Types of results come and go, so this reads every string but for those known to hold no words.
    """
    if isinstance(field.value, str):
        yield Text(text=field.value)
    elif isinstance(field.value, list):
        for element in field.elements():
            yield from output_parts(element)
    elif isinstance(field.value, dict):
        kind = field.value.get("type")
        for member in field.members():
            if member.key == "source" and _is_media(member.value):
                yield Opaque(kind=kind if isinstance(kind, str) else "source")
            elif member.key == "data" and kind == "text":
                yield from output_parts(member)
            elif _is_unreadable(str(member.key)):
                yield Opaque(kind=str(member.key))
            elif member.key not in _LABELS:
                yield from output_parts(member)


def _is_media(source: object) -> bool:
    kind = source.get("type") if isinstance(source, dict) else None
    return isinstance(kind, str) and kind in _MEDIA_SOURCES


def _is_unreadable(key: str) -> bool:
    return key in _UNREADABLE or key.startswith("encrypted_")
