"""taskshield's own JSON for conversations, which says exactly what the core values say.

{"taskshield": 1,
 "tools": [{"name": ..., "description": ..., "parameters": {...},
            "annotations": {"read_only": true}}],
 "messages": [{"level": "user", "text": ...},
              {"level": "assistant", "tool_calls": [{"id": ..., "name": ..., "arguments": {...}}]},
              {"level": "tool", "answers": ..., "parts": [{"text": ...}, {"kind": "image"}]}]}
"""

from dataclasses import asdict
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, FailFast, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from taskshield.adapters.parsing.json_reader import Field, arguments, checked
from taskshield.adapters.parsing.pydantic_errors import wire_error
from taskshield.core.levels import Level
from taskshield.core.messages import Conversation, Message, Opaque, Part, Text, ToolCall
from taskshield.core.tools import ToolAnnotations, ToolSpec

VERSION = 1
"""Version of the format, under the key "taskshield"."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Annotations(_Strict):
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


class WireTool(_Strict):
    """A tool in our own JSON."""

    name: str
    description: str = ""
    parameters: dict[str, object] = {}
    annotations: _Annotations = _Annotations()

    def value(self) -> ToolSpec:
        """As the engine takes it."""
        return ToolSpec(
            name=self.name,
            description=self.description,
            parameters=self.parameters,
            annotations=ToolAnnotations(**self.annotations.model_dump()),
        )


class _Text(_Strict):
    text: str

    def value(self) -> Part:
        return Text(text=self.text)


class _Opaque(_Strict):
    kind: str

    def value(self) -> Part:
        return Opaque(kind=self.kind)


class _Call(_Strict):
    id: str
    name: str
    arguments: str | dict[str, object]

    def value(self) -> ToolCall:
        written = Field(value=self.arguments, key="arguments")
        return ToolCall(id=self.id, name=self.name, arguments=arguments(written))


class WireMessage(_Strict):
    """A message in our own JSON."""

    level: Literal["system", "user", "assistant", "tool"]
    text: str | None = None
    parts: Annotated[list[_Text | _Opaque] | None, FailFast()] = None
    tool_calls: Annotated[list[_Call], FailFast()] = []
    answers: str | None = None
    is_error: bool = False

    @model_validator(mode="after")
    def _makes_sense(self) -> "WireMessage":
        if self.text is not None and self.parts is not None:
            raise PydanticCustomError("content", "a message has either text or parts, not both")
        if self.tool_calls and self.level != "assistant":
            raise PydanticCustomError("calls", "only an assistant message can call tools")
        if (self.answers is not None or self.is_error) and self.level != "tool":
            raise PydanticCustomError("answers", "only a tool message can answer a call")
        return self

    def value(self) -> Message:
        """As the engine takes it."""
        parts = [part.value() for part in self.parts or []]
        if self.text:
            parts.append(Text(text=self.text))
        return Message(
            level=Level(self.level),
            parts=tuple(parts),
            tool_calls=tuple(call.value() for call in self.tool_calls),
            answers=self.answers,
            is_error=self.is_error,
        )


class _Conversation(_Strict):
    taskshield: Literal[1]
    tools: Annotated[list[WireTool], FailFast()] = []
    messages: Annotated[list[WireMessage], FailFast()]


def parse(payload: object) -> Conversation:
    """Read a conversation in this format.

    Raises:
        WireFormatError: The payload is not in this format; the message names the path.
    """
    root = checked(Field(value=payload, key="conversation"))
    try:
        wire = _Conversation.model_validate(payload)
    except ValidationError as error:
        raise wire_error(error, root) from None
    return Conversation(
        messages=tuple(message.value() for message in wire.messages),
        tools=tuple(tool.value() for tool in wire.tools),
    )


def render(conversation: Conversation) -> dict[str, object]:
    """The conversation in this format; `parse` gives the same conversation back."""
    return {
        "taskshield": VERSION,
        "tools": [_tool(spec) for spec in conversation.tools],
        "messages": [_message(message) for message in conversation.messages],
    }


def _tool(spec: ToolSpec) -> dict[str, object]:
    hints = {name: hint for name, hint in asdict(spec.annotations).items() if hint is not None}
    return {
        "name": spec.name,
        "description": spec.description,
        "parameters": dict(spec.parameters),
        **({"annotations": hints} if hints else {}),
    }


def _message(message: Message) -> dict[str, object]:
    wire: dict[str, object] = {"level": message.level.value}
    match message.parts:
        case ():
            pass
        case (Text(text=text),) if text:
            wire["text"] = text
        case parts:
            wire["parts"] = [asdict(part) for part in parts]
    if message.tool_calls:
        wire["tool_calls"] = [asdict(call) for call in message.tool_calls]
    if message.answers is not None:
        wire["answers"] = message.answers
    if message.is_error:
        wire["is_error"] = True
    return wire
