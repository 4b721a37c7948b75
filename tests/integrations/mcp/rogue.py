"""An MCP server without the SDK. It misbehaves as its first argument says, and starts at once.

- garbage: writes lines that are not MCP between its answers
- deaf: does not end when it is told to, and takes no signal but the last
- mute: never answers a call
- dead: ends before it says anything
- dies: ends when a tool is called
- env: a tool gives the names of its variables
"""

import json
import os
import signal
import sys
import time
from typing import Any

SECRET = "sk-canary-4711"


def write(line: str) -> None:
    sys.stdout.buffer.write(line.encode("utf-8", "surrogateescape") + b"\n")
    sys.stdout.buffer.flush()


def answer(request: dict[str, Any], how: str) -> dict[str, Any] | None:
    match request["method"]:
        case "initialize":
            return {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "rogue", "version": "1"},
            }
        case "tools/list":
            tool = {"name": "get_it", "description": "Gets it.", "inputSchema": {"type": "object"}}
            return {"tools": [tool]}
        case "tools/call":
            if how == "dies":
                os._exit(3)
            if how == "mute":
                return None
            said = " ".join(sorted(os.environ)) if how == "env" else "here it is"
            return {"content": [{"type": "text", "text": said}]}
        case _:
            return {}


def main(how: str) -> None:
    print(f"rogue {os.getpid()} {SECRET}", file=sys.stderr, flush=True)
    if how == "dead":
        return
    if how == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for line in sys.stdin:
        request = json.loads(line)
        if how == "garbage":
            write(f"log: {SECRET} \udcff {{")
            write('{"jsonrpc": "2.0", "id": 999, "result": {}}')
            write("[" * 100_000)
        if "id" in request and "method" in request:
            result = answer(request, how)
            if result is not None:
                write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}))
    while how == "deaf":
        time.sleep(60)


if __name__ == "__main__":
    main(sys.argv[1])
