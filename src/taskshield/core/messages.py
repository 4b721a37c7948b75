"""Messages and tool calls, to which every wire format is normalised.

Plain values. Wire formats belong to `adapters`; what a message means is for judges to say.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, TypeAlias

from taskshield.core.errors import WireFormatError
from taskshield.core.json_limits import read_json
from taskshield.core.levels import Level
from taskshield.core.tools import ToolSpec

Json: TypeAlias = "None | bool | int | float | str | Sequence[Json] | Mapping[str, Json]"
JsonObject: TypeAlias = Mapping[str, Json]


ContextKind = Literal["project_file", "system_message", "text_beside_result"]
"""What the text of a host is, where policy may trust it.

- project_file: a file with a project's instructions for agents, such as CLAUDE.md
- system_message: a system message after the conversation has begun
- text_beside_result: text beside the result of a tool in a user message of Anthropic's format
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A readable part of a message."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Opaque:
    """A part of a message that no judge can read: an image, audio, a file."""

    kind: str
    """The wire format's name for it."""


Part: TypeAlias = Text | Opaque


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call that the agent wants to make."""

    id: str
    name: str
    arguments: str
    """As the model wrote them: usually JSON, but models also write text that is not."""

    def parse_arguments(self) -> JsonObject | None:
        """The arguments as an object, or None if they are not one."""
        try:
            value = read_json(self.arguments, strict=False)
        except WireFormatError:
            return None
        return value if isinstance(value, dict) else None

    def describe(self) -> str:
        """The call in one line, for people and feedback."""
        return f"{self.name}({self.arguments})"

    def fingerprint(self) -> str:
        """A hash, equal for calls of equal name and arguments, however the JSON is laid out."""
        parsed = self.parse_arguments()
        arguments = self.arguments if parsed is None else json.dumps(parsed, sort_keys=True)
        return digest(self.name, arguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation."""

    level: Level
    parts: tuple[Part, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    """Calls of an assistant message; several when it calls in parallel."""
    answers: str | None = None
    """For tool output: the id of the call that produced it."""
    is_error: bool = False
    """For tool output: whether the tool reported a failure."""

    @property
    def text(self) -> str:
        """All readable parts, joined. Spans count from the start of this text."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))

    def call(self, id: str) -> ToolCall:
        """The tool call with this id."""
        return next(call for call in self.tool_calls if call.id == id)

    @property
    def unreadable(self) -> tuple[str, ...]:
        """The kinds of the parts that no judge can read."""
        return tuple(part.kind for part in self.parts if isinstance(part, Opaque))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HostMessage(Message):
    """Text of a host, at the level of a tool. It equals the plain message that a session keeps."""

    context: ContextKind

    def as_message(self, level: Level) -> Message:
        """The same as a plain message of this level."""
        return Message(level=level, parts=self.parts)

    def __eq__(self, other: object) -> bool:
        plain = other.as_message(other.level) if isinstance(other, HostMessage) else other
        return self.as_message(self.level) == plain

    def __hash__(self) -> int:
        return hash(self.as_message(self.level))


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A whole conversation, as read from a file or a request."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()


def text_message(level: Level, text: str) -> Message:
    """A message with one part; an empty text gives a message with none."""
    return Message(level=level, parts=(Text(text=text),) if text else ())


def digest(*texts: str) -> str:
    """A hash of several texts that depends on where each ends: "ab", "c" is not "a", "bc"."""
    hasher = sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        hasher.update(len(data).to_bytes(8, "big"))
        hasher.update(data)
    return hasher.hexdigest()
