"""Definitions of tools, pins, targets and headers."""

import json
from pathlib import Path
from typing import Any

import pytest

from taskshield.core.errors import ConfigError, WireFormatError
from taskshield.core.tools import ToolAnnotations
from taskshield.integrations.mcp import Address, Command, FilePins, Pins, read_targets
from taskshield.integrations.mcp.connections.wrapped_server import headers_of
from taskshield.integrations.mcp.tools.definitions import (
    digest_of,
    spec_of,
    without_words,
    words_of,
)

TOOL: dict[str, Any] = {
    "name": "send_mail",
    "title": "Send mail",
    "description": "Sends a mail.",
    "inputSchema": {
        "type": "object",
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "properties": {
            "to": {"type": "string", "description": "Who gets it.", "format": "email"},
            "description": {"type": "string", "enum": ["urgent", "not urgent"]},
        },
        "required": ["to"],
    },
    "annotations": {"readOnlyHint": False, "openWorldHint": True},
    "_meta": {"anything": "may stand here"},
}


def test_every_text_that_may_be_a_sentence_is_read() -> None:
    assert words_of(TOOL) == [
        "Sends a mail.",
        "Who gets it.",
        "not urgent",
        "Send mail",
        "may stand here",
    ]
    assert words_of({"name": "x", "description": "請先讀取檔案"}) == ["請先讀取檔案"]
    assert words_of({"name": "x", "outputSchema": {"a": [{"say this": 1}]}}) == ["say this"]
    assert words_of({"name": "read_all_and_" * 9})[0] == "read_all_and_" * 9


def test_a_spec_is_read_from_a_definition() -> None:
    spec = spec_of(TOOL)
    assert spec.name == "send_mail" and spec.parameters == TOOL["inputSchema"]
    assert spec.annotations == ToolAnnotations(read_only=False, open_world=True)
    with pytest.raises(WireFormatError):
        spec_of({"name": "x", "inputSchema": "none"})


@pytest.mark.parametrize("key", ["name", "description", "inputSchema", "annotations"])
def test_the_hash_changes_with_what_a_tool_is(key: str) -> None:
    assert digest_of({**TOOL, key: {}}) != digest_of(TOOL)


def test_the_hash_is_the_same_in_protocols_that_say_less() -> None:
    older = {key: TOOL[key] for key in reversed(TOOL) if key not in ("title", "_meta")}
    assert digest_of(older) == digest_of({**TOOL, "outputSchema": {"type": "object"}})


def test_words_can_be_removed_and_the_schema_stays() -> None:
    bare = without_words(TOOL, "(gone)")
    assert bare["description"] == "(gone)" and "title" not in bare
    assert bare["inputSchema"]["properties"] == {
        "to": {"type": "string", "format": "email"},
        "description": {"type": "string", "enum": ["urgent", "not urgent"]},
    }


def test_pins_know_what_has_changed() -> None:
    pins = Pins()
    assert pins.state("a", "1") == "new"
    assert pins.pin({"a": "1", "b": "2"}) == ["a", "b"]
    assert pins.state("a", "1") == "same" and pins.state("a", "2") == "changed"
    assert pins.pin({"a": "1", "b": "3"}) == ["b"] and pins.state("b", "3") == "same"


def test_pins_in_a_file_are_shared_by_servers_and_processes(tmp_path: Path) -> None:
    path = tmp_path / "pins.json"
    one, two = FilePins(path, "one"), FilePins(path, "two")
    one.pin({"a": "1"})
    two.pin({"a": "2"})
    FilePins(path, "one").pin({"b": "3"})
    one.pin({"c": "4"})
    kept = json.loads(path.read_text())["servers"]
    assert kept == {"one": {"a": "1", "b": "3", "c": "4"}, "two": {"a": "2"}}
    assert FilePins(path, "one").state("a", "2") == "changed"
    assert [each.name for each in tmp_path.iterdir()] == ["pins.json"]


def test_a_server_with_ever_new_names_of_tools_fills_no_memory() -> None:
    pins = Pins()
    pins.pin({str(number): "1" for number in range(10_000)})
    with pytest.raises(ConfigError, match="over 10,000 tools"):
        pins.pin({"one more": "1"})
    assert pins.pin({"7": "2"}) == ["7"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"taskshield-pins": 1, "servers": {"a": 1}}'])
def test_a_file_that_is_not_one_of_pins_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "pins.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match="is not a file of pins"):
        FilePins(path, "one")
    with pytest.raises(ConfigError, match="cannot be read"):
        FilePins(tmp_path, "one")


def test_servers_are_read_from_a_clients_own_file(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    servers = {
        "files": {"command": "npx", "args": ["-y", "files"], "env": {"A": "2"}},
        "wiki": {"type": "http", "url": "https://wiki.example/mcp", "headers": {"x-token": "t"}},
    }
    path.write_text(json.dumps({"mcpServers": servers}))
    assert read_targets(path, {"A": "1", "B": "1"}) == {
        "files": Command(argv=("npx", "-y", "files"), env={"A": "2", "B": "1"}),
        "wiki": Address(url="https://wiki.example/mcp", headers={"x-token": "t"}),
    }


@pytest.mark.parametrize(
    ("servers", "words"),
    [
        (7, "mcpServers: an object is needed"),
        ({"a": {}}, "mcpServers.a.command: a string is needed"),
        ({"a": {"command": "x", "args": "canary"}}, "mcpServers.a.args: a list is needed"),
        ({"a": {"command": "x", "env": {"K": 1}}}, "mcpServers.a.env.K: a string is needed"),
        ({"a": {"url": "canary"}}, "mcpServers.a.url: this must be an address"),
        ({"a/b": {"command": "x"}}, "a server's name may have only letters"),
        ({"a": {"command": ""}}, "There is no command"),
    ],
)
def test_a_file_of_servers_that_makes_no_sense_is_refused(
    servers: object, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}))
    with pytest.raises(ConfigError, match=words) as raised:
        read_targets(path, {})
    assert "canary" not in str(raised.value)
    path.write_text("{")
    with pytest.raises(ConfigError, match="is not a JSON file"):
        read_targets(path, {})


def test_headers_repeat_what_a_request_says() -> None:
    schema = {"type": "object", "properties": {"to": {"type": "string", "x-mcp-header": "To"}}}
    modern = {
        "name": "send mail",
        "arguments": {"to": "Dän"},
        "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"},
    }
    assert headers_of("tools/call", modern, negotiated=None, schema=schema) == {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "send mail",
        "Mcp-Param-To": "=?base64?RMOkbg==?=",
    }
    assert headers_of("ping", {}, negotiated="2025-06-18", schema=None) == {
        "mcp-protocol-version": "2025-06-18"
    }
    assert headers_of("initialize", {"_meta": 7}, negotiated=None, schema=None) == {}
