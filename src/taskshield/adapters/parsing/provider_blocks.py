"""The content blocks of model APIs and MCP: which of their members hold no words.

A member is left out only for what it is, never for its name alone: a label whose value is one of
the provider's own words, or a whole picture, sound or document. All else in a block is read.
"""

import re
from collections.abc import Mapping

from taskshield.adapters.parsing.encoded_text import is_media

_TYPES = frozenset(
    (
        "audio base64 bash_code_execution_output bash_code_execution_result"
        " bash_code_execution_tool_result char_location code_execution_output"
        " code_execution_result code_execution_tool_result code_execution_tool_result_error"
        " code_interpreter computer_screenshot content"
        " content_block_location direct document encrypted_code_execution_result ephemeral exit"
        " file http http_error image image_url input_audio"
        " input_file input_image input_text json logs mcp_tool_result object output_text"
        " page_location reasoning refusal resource resource_link search_result"
        " search_result_location summary_text text text-plain"
        " text_editor_code_execution_tool_result text_editor_code_execution_view_result"
        " thinking timeout tool_reference tool_result"
        " url video web_fetch_result web_fetch_tool_result"
        " web_fetch_tool_result_error web_search_result"
        " web_search_result_location web_search_tool_result web_search_tool_result_error"
    ).split()
)
_MIME_TYPES = frozenset(
    (
        "application/javascript application/json application/octet-stream application/pdf"
        " application/xml application/yaml application/zip audio/aac audio/flac audio/mp3"
        " audio/mpeg audio/ogg audio/wav audio/webm audio/x-wav image/avif image/bmp image/gif"
        " image/heic image/jpeg image/png image/svg+xml image/tiff image/webp text/calendar"
        " text/css text/csv text/html text/javascript text/markdown text/plain text/x-python"
        " text/xml video/mp4 video/mpeg video/quicktime video/webm"
    ).split()
)
_ROLES = frozenset({"assistant", "system", "tool", "user"})
_LABELS: Mapping[str, frozenset[str]] = {
    "audience": _ROLES,
    "cacheScope": frozenset({"private", "public"}),
    "detail": frozenset({"auto", "high", "low"}),
    "format": frozenset({"flac", "mp3", "ogg", "pcm16", "wav"}),
    "media_type": _MIME_TYPES,
    "mimeType": _MIME_TYPES,
    "mime_type": _MIME_TYPES,
    "resultType": frozenset({"complete", "input_required", "task"}),
    "role": _ROLES,
    "source_type": _TYPES,
    "ttl": frozenset({"5m", "1h"}),
    "type": _TYPES | _MIME_TYPES,
}
"""The provider's own words, by the member that they stand in."""
_UNREAD = frozenset(
    (
        "audio computer_screenshot document file image image_url input_audio input_file"
        " input_image video"
    ).split()
)
"""Types of blocks that show a model what no judge can read."""
_PLACES = frozenset(
    (
        "audio base64 blob data file file_data file_id file_url image image_url input_audio"
        " result source uri url video"
    ).split()
)
"""Members in which such a block has its content, or says where it is."""
_BYTES = frozenset({"base64", "blob", "data", "file_data", "image_url", "result", "src", "url"})
_BLOCK_MEMBERS = frozenset({"format", "media_type", "mimeType", "mime_type", "type"})
"""A file stands only beside one of these; elsewhere it is a string like any other. A `blob` stands
beside a `uri` as well."""
_DATE = re.compile(r"[\d:TZ.+-]{1,40}", re.ASCII)


def is_label(key: str, value: object) -> bool:
    """Whether a member holds words of the provider and nothing else."""
    if key == "lastModified":
        return isinstance(value, str) and _DATE.fullmatch(value) is not None
    words = _LABELS.get(key)
    if words is None:
        return False
    if isinstance(value, list):
        return key == "audience" and all(isinstance(each, str) and each in words for each in value)
    return isinstance(value, str) and value in words


def unread_kind(block: Mapping[str, object]) -> str | None:
    """The type of a block that shows a model what no judge can read; None for others."""
    kind = block.get("type")
    if not isinstance(kind, str) or kind not in _UNREAD or _PLACES.isdisjoint(block):
        return None
    source = block.get("source")
    if isinstance(source, Mapping) and source.get("type") in ("content", "text"):
        return None
    return kind


def has_file(block: Mapping[str, object], key: str) -> bool:
    """Whether a member is where a block has a file, in base64 or a `data:` URL."""
    value = block[key]
    if key not in _BYTES or not isinstance(value, str):
        return False
    declared = value.startswith("data:") or not _BLOCK_MEMBERS.isdisjoint(block)
    return declared or (key == "blob" and "uri" in block)


def is_file(block: Mapping[str, object], key: str) -> bool:
    """Whether a member is a whole picture, sound or document, where a block has one."""
    value = block[key]
    return has_file(block, key) and isinstance(value, str) and is_media(value)
