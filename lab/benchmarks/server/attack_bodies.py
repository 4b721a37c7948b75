"""The worst bodies, texts and conversations that are known, as requests to a server."""

import json
from collections.abc import Iterator
from typing import Any

CHAT = "/v1/chat/completions"
AZURE = "/contentsafety/agent:analyzeTaskAdherence?api-version=2024-12-15-preview"
HOOK = "/hooks/claude-code"


def chat(*messages: dict[str, Any]) -> bytes:
    """A request to the proxy."""
    return json.dumps({"model": "m", "messages": messages}).encode()


def said(role: str, text: str) -> dict[str, Any]:
    """A message."""
    return {"role": role, "content": text}


def tool_output(text: str, *, asked: str = "Read the file.") -> bytes:
    """A request whose newest message is the output of a tool. It is judged before it goes on."""
    function = {"name": "read_file", "arguments": "{}"}
    call = {"id": "c", "type": "function", "function": function}
    return chat(
        said("user", asked),
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": text},
    )


def tool_call(arguments: str) -> bytes:
    """A request for Azure's route whose newest message is a call."""
    call = {"id": "c", "type": "function", "function": {"name": "send", "arguments": arguments}}
    asked = {"source": "Prompt", "role": "User", "contents": "Send it."}
    made = {"source": "Completion", "role": "Assistant", "contents": "Ok.", "toolCalls": [call]}
    return json.dumps({"messages": [asked, made]}).encode()


def conversation(round: int, length: int) -> bytes:
    """A conversation for Azure's route that is new in each round, and ends with the agent."""
    turns = [
        {
            "source": ("Prompt", "Completion")[number % 2],
            "role": ("User", "Assistant")[number % 2],
            "contents": f"Round {round}, step {number}.",
        }
        for number in range(length)
    ]
    return json.dumps({"messages": turns}).encode()


def attacks(round: int, characters: int) -> Iterator[tuple[str, str, bytes]]:
    """Each attack: its name, its path and its body. Texts differ between rounds."""
    tag = f"round {round} "
    empty = b'{"messages": [' + b"[]," * 800_000 + b"[]]}"
    for surface, path in (("proxy", CHAT), ("azure", AZURE), ("hook", HOOK)):
        yield f"800,000 empty messages, {surface}", path, empty
    yield "15 MB of empty messages", CHAT, b'{"messages": [' + b"[]," * 5_000_000 + b"[]]}"
    yield "15 MB of empty texts", CHAT, b'{"messages": [' + b'"",' * 5_000_000 + b'""]}'
    yield "15 MB of brackets", CHAT, b"[" * 15_000_000
    yield "wrong values", "/api/playground", json.dumps([[0]] * 60_000).encode()
    yield "15 MB of one text", CHAT, tool_output(tag + "word " * 3_000_000)
    yield "2,000 short messages", AZURE, conversation(round, 2_000)
    yield "a cell of tabs", CHAT, tool_output(f"{tag}| a" + "\t" * 200_000 + "x")
    yield "a line of blanks", CHAT, tool_output("Done.", asked=tag + " " * 200_000 + "x")
    for name, unit in (("words", "the word "), ("signs", "!? <[|*_`"), ("lines", "- a: b\n")):
        yield f"a text of {name}", CHAT, tool_output(tag + unit * (characters // len(unit)))
    yield "JSON in arguments", AZURE, tool_call(json.dumps({"a": [tag] * 5_000}))
    yield "300 kB of a user", CHAT, tool_output("Done.", asked=tag + "Pay, if so, Ada. " * 18_000)
