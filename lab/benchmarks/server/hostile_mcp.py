"""An MCP server with the worst results that are known, and a client that calls it by a gateway.

Run as a program it is the server. `taskshield mcp --server URL` checks its results with the server
under attack.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_TOOL = {"name": "read_file", "description": "Reads a file.", "inputSchema": {"type": "object"}}
_HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "files", "version": "1"},
}


def results(tag: str) -> dict[str, dict[str, Any]]:
    """The results, by what is bad about them."""
    texts = [{"type": "text", "text": f"{tag} {number}"} for number in range(5_000)]
    copied = json.dumps({"a": [1] * 60_000})
    return {
        "a text of 7 MB": {"content": [{"type": "text", "text": f"{tag} word " * 500_000}]},
        "7 MB of escapes": {"content": [{"type": "text", "text": tag + "\n" * 3_500_000}]},
        "240,000 numbers": {"content": [], "structuredContent": {tag: [1] * 240_000}},
        "80,000 objects": {"content": [], "structuredContent": {tag: [{"b": 1}] * 80_000}},
        "5,000 blocks": {"content": texts},
        "copies": {
            "content": [{"type": "text", "text": copied}] * 20,
            "structuredContent": {"a": [1] * 60_000},
        },
        "20,000 keys": {
            "content": [],
            "structuredContent": {f"{tag} key {number}": number for number in range(20_000)},
        },
        "brackets": {"content": [], "structuredContent": json.loads("[" * 900 + "]" * 900)},
    }


def call_all(url: str, tag: str) -> dict[str, str]:
    """What a client of a gateway to the server at this address gets: a word for each result."""
    taskshield = Path(sys.executable).with_name("taskshield")
    guarded = [str(taskshield), "mcp", "--server", url, "--task", f"Read the file. {tag}"]
    with subprocess.Popen(
        [*guarded, "--", sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as gateway:
        try:
            return dict(_answers(gateway, tag))
        finally:
            gateway.terminate()


def _answers(gateway: "subprocess.Popen[bytes]", tag: str) -> Iterator[tuple[str, str]]:
    assert gateway.stdin is not None and gateway.stdout is not None

    def ask(id: str, method: str, params: dict[str, Any]) -> dict[str, Any]:
        assert gateway.stdin is not None and gateway.stdout is not None
        request = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        gateway.stdin.write(json.dumps(request).encode() + b"\n")
        gateway.stdin.flush()
        for line in gateway.stdout:
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == id:
                return answer
        return {}

    client = {"name": "client", "version": "1"}
    ask("hello", "initialize", {**_HELLO, "capabilities": {}, "clientInfo": client})
    gateway.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
    for name in results(tag):
        arguments = {"name": "read_file", "arguments": {"how": name, "tag": tag}}
        answer = ask(name, "tools/call", arguments)
        noted = "taskshield" in json.dumps(answer)[-2_000:].lower().replace(" ", "")
        yield (
            name,
            "none"
            if not answer
            else "error"
            if "error" in answer
            else ("noted" if noted else "passed"),
        )


def main() -> None:
    """Answer requests until the input ends."""
    for line in sys.stdin:
        request = json.loads(line)
        params, method = request.get("params", {}), request.get("method")
        if "id" not in request:
            continue
        given: dict[str, Any] = {}
        if method == "initialize":
            given = _HELLO
        elif method == "tools/list":
            given = {"tools": [_TOOL]}
        elif method == "tools/call":
            asked = params["arguments"]
            given = results(asked["tag"])[asked["how"]]
        answer = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": given})
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
