"""ADK's contents, events and tool results as messages of the shield."""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from google.adk.events.event import Event
from google.adk.flows.llm_flows.functions import (
    AF_FUNCTION_CALL_ID_PREFIX,
    REQUEST_INPUT_FUNCTION_CALL_NAME,
)
from google.adk.models.llm_request import LlmRequest
from google.genai import types

from taskshield.adapters.parsing import tool_specs
from taskshield.adapters.parsing.encoded_text import text_of_file
from taskshield.adapters.parsing.json_reader import Field, filled
from taskshield.adapters.parsing.tool_output import text_parts
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Opaque, Part, Text, ToolCall, text_message
from taskshield.core.tools import ToolSpec
from taskshield.engine.tool_functions import as_json, as_text
from taskshield.integrations.google_adk.code_execution import calls_in, returned_by


def new_call_id() -> str:
    """An id in ADK's own format."""
    return f"{AF_FUNCTION_CALL_ID_PREFIX}{uuid.uuid4()}"


def parts_of(content: types.Content | None) -> list[types.Part]:
    """The parts of a content, if there are any."""
    return [] if content is None or content.parts is None else list(content.parts)


def texts_of(parts: Iterable[types.Part]) -> list[str]:
    """The texts without hidden reasoning."""
    return [part.text for part in parts if part.text and not part.thought]


def user_parts(parts: Iterable[types.Part]) -> Iterator[Part]:
    """The user's words, including answers to an agent's question."""
    for part in parts:
        response = part.function_response
        if part.text:
            yield Text(text=part.text)
        elif response is not None and response.name == REQUEST_INPUT_FUNCTION_CALL_NAME:
            for value in (response.response or {}).values():
                yield Text(text=as_text(value))
        elif part.file_data is not None or (part.inline_data and words_of(part) is None):
            yield Opaque(kind="media")


def attachments(parts: Iterable[types.Part]) -> Iterator[Message]:
    """The words of files beside the user's own, which are data."""
    texts = (words_of(part) or _code_of(part) for part in parts)
    found = tuple(Text(text=text) for text in texts if text is not None)
    if found:
        yield Message(level=Level.TOOL, parts=found)


def words_of(part: types.Part) -> str | None:
    """What a file in a part says if it is a text; None for all other parts."""
    blob = part.inline_data
    if blob is None or blob.data is None:
        return None
    return text_of_file(blob.data, blob.mime_type)


def _code_of(part: types.Part) -> str | None:
    return None if part.executable_code is None else part.executable_code.code


def output_of(result: object, id: str | None, media: Iterable[types.Part] = ()) -> Message:
    """A result as a message: its text, and what can be read of its media."""
    texts = (words_of(part) for part in media)
    found = (Opaque(kind="media") if words is None else Text(text=words) for words in texts)
    parts = filled((*text_parts(as_text(result)), *found))
    return Message(level=Level.TOOL, parts=parts, answers=id)


def calls_of(parts: Iterable[types.Part]) -> Iterator[ToolCall]:
    """The calls in a message. Calls without an id get one, as ADK would do next."""
    for part in parts:
        call = part.function_call
        if call is not None:
            call.id = call.id or new_call_id()
            yield ToolCall(id=call.id, name=str(call.name), arguments=as_json(call.args or {}))


def messages_of(events: Sequence[Event]) -> Iterator[Message]:
    """Events as the messages that the session would have received."""
    for event in events:
        parts = parts_of(event.content)
        results = [result for part in parts if (result := returned_by(part)) is not None]
        outputs = [output_of(result.value, result.answers) for result in results]
        if event.author == "user":
            yield from outputs
            user = tuple(user_parts(parts))
            if user:
                yield Message(level=Level.USER, parts=user)
            yield from attachments(parts)
            continue
        words = text_message(Level.ASSISTANT, "\n".join(texts_of(parts)))
        calls = {call.id: call for call in (*calls_of(parts), *calls_in(parts))}
        if words.parts or calls:
            yield replace(words, tool_calls=tuple(calls.values()))
        yield from outputs


def without_media(result: Any, media: list[types.Part], depth: int = 0) -> Any:
    """A result without its media, which are added to the list. ADK searches as deep as this."""
    if isinstance(result, types.Part) and (result.inline_data or result.file_data):
        media.append(result)
        return None
    if depth < 2 and isinstance(result, dict):
        return {key: without_media(value, media, depth + 1) for key, value in result.items()}
    if depth < 2 and isinstance(result, list | tuple):
        return [without_media(value, media, depth + 1) for value in result]
    return result


def specs_of(request: LlmRequest) -> Iterator[ToolSpec]:
    """The tools in a request, with the hints of those that an MCP server provides."""
    for offered in request.config.tools or ():
        declared = offered.function_declarations if isinstance(offered, types.Tool) else None
        for each in declared or ():
            tool = request.tools_dict.get(str(each.name))
            hints = getattr(getattr(tool, "raw_mcp_tool", None), "annotations", None)
            schema = each.parameters
            body = {
                "name": each.name,
                "description": each.description,
                "parameters": each.parameters_json_schema
                if schema is None
                else schema.model_dump(mode="json", exclude_none=True),
                "annotations": None if hints is None else hints.model_dump(by_alias=True),
            }
            yield from tool_specs.read([Field(value=body, key="tool")])
