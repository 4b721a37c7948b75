"""Claude Code hooks: what the command line tool posts, or writes to a hook's standard input.

Owns the request; the answer belongs to `answers`. A tool of an MCP server keeps the name by which
the user knows it (`mcp__server__tool`), in settings, feedback and records. Tools of servers are not
declared, because only their names are known, so they never count as harmless. The built-in tools of
Claude Code are known, see `BUILT_IN`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from taskshield.adapters.conversations.host_text import messages_by_author
from taskshield.adapters.parsing.json_reader import Field, filled, json_text
from taskshield.adapters.parsing.request_body import root_of_body
from taskshield.adapters.parsing.tool_output import output_parts
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall, text_message
from taskshield.core.tools import ToolAnnotations, ToolSpec

_MCP = "mcp__"


@dataclass(frozen=True, slots=True, kw_only=True)
class UserPrompt:
    """UserPromptSubmit: the user has spoken."""

    session: str
    message: Message

    @property
    def messages(self) -> tuple[Message, ...]:
        """The user's own words, and apart from them what a host wrote into the prompt."""
        return messages_by_author((self.message,))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """PreToolUse: a tool is about to be called."""

    session: str
    message: Message

    @property
    def call(self) -> ToolCall:
        """The call, the only one of its message."""
        (call,) = self.message.tool_calls
        return call


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """PostToolUse or PostToolUseFailure: a tool has answered."""

    session: str
    event: Literal["PostToolUse", "PostToolUseFailure"]
    tool: str
    message: Message
    response: Field
    """What the tool gave back, in its own shape."""

    @property
    def of_server(self) -> bool:
        """Whether the tool is one of an MCP server."""
        return self.tool.startswith(_MCP)


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherEvent:
    """An event that says nothing about tasks, calls or outputs."""

    name: str


Event: TypeAlias = UserPrompt | ToolUse | ToolResult | OtherEvent


def parse(body: bytes | object) -> Event:
    """Read an event: bytes, or the JSON in them. Unknown members are ignored.

    Raises:
        WireFormatError: It is not one; the message begins with the path.
    """
    root = root_of_body(body)
    name = root["hook_event_name"].text()
    match name:
        case "UserPromptSubmit":
            message = text_message(Level.USER, root["prompt"].text())
            return UserPrompt(session=_session(root), message=message)
        case "PreToolUse":
            message = Message(level=Level.ASSISTANT, tool_calls=(_call(root),))
            return ToolUse(session=_session(root), message=message)
        case "PostToolUse":
            return _result(root, name, root["tool_response"])
        case "PostToolUseFailure":
            return _result(root, name, root["error"])
        case _:
            return OtherEvent(name=name)


def _result(
    root: Field, event: Literal["PostToolUse", "PostToolUseFailure"], response: Field
) -> ToolResult:
    call = _call(root)
    message = Message(
        level=Level.TOOL,
        parts=filled(output_parts(response)),
        answers=call.id,
        is_error=event == "PostToolUseFailure",
    )
    return ToolResult(
        session=_session(root), event=event, tool=call.name, message=message, response=response
    )


def _session(root: Field) -> str:
    session = root["session_id"]
    if not session.text():
        raise session.refused("must not be empty; it identifies the session")
    return session.text()


def _call(root: Field) -> ToolCall:
    arguments = root["tool_input"]
    arguments.mapping()
    unnamed = ToolCall(id="", name=root["tool_name"].text(), arguments=json_text(arguments))
    # Without an id, the call is found again by what it is.
    id = root["tool_use_id"].text_or("") or f"call_{unnamed.fingerprint()[:24]}"
    return ToolCall(id=id, name=unnamed.name, arguments=unnamed.arguments)


def _built_in(tools: Mapping[str, str], *, reads: bool) -> tuple[ToolSpec, ...]:
    hints = ToolAnnotations(read_only=reads)
    return tuple(
        ToolSpec(name=name, description=about, annotations=hints) for name, about in tools.items()
    )


BUILT_IN: tuple[ToolSpec, ...] = (
    *_built_in(
        {
            "Read": "Reads a file.",
            "Glob": "Finds files by name.",
            "Grep": "Searches the contents of files.",
            "LS": "Lists the files of a folder.",
        },
        reads=True,
    ),
    *_built_in(
        {
            "Edit": "Changes a file.",
            "Write": "Writes a file.",
            "NotebookEdit": "Changes a notebook.",
            "Bash": "Executes a command in a shell.",
            "Task": "Starts another agent with a task of its own.",
            "Agent": "Starts another agent with a task of its own.",
        },
        reads=False,
    ),
    *(
        ToolSpec(name=name, description=about, annotations=ToolAnnotations(open_world=True))
        for name, about in {
            "WebFetch": "Fetches a page from the web.",
            "WebSearch": "Searches the web.",
        }.items()
    ),
)
"""The tools of Claude Code that matter for risk; to be declared when a session begins."""
