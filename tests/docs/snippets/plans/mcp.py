"""The page about MCP: a real client and a real server on both sides of the gateway."""

import json

from tests.docs.snippets.plan import FILE, RAN, Plan, Step, driven, shell
from tests.docs.snippets.plan import check as right
from tests.docs.snippets.reading import Snippet
from tests.docs.snippets.stage import Stage, free_port
from tests.integrations.mcp import office


def before(stage: Stage) -> None:
    """A server of notes, which `npx` starts."""
    stage.program("npx", f'#!/bin/sh\nexec "{stage.environment.python}" "{office.__file__}"\n')
    stage.replaced["8790"] = str(free_port())


def client_settings(stage: Stage, snippet: Snippet) -> None:
    """A client starts the gateway with the settings, and calls a tool."""
    stage.write("servers.json", json.dumps({"mcpServers": {"notes": {"command": "npx"}}}))
    servers = json.loads(snippet.code)["mcpServers"]
    stage.driven("mcp", "over_stdio", f"servers = {servers!r}")


def pinned(stage: Stage, snippet: Snippet) -> None:
    """The pins are in the file."""
    right("read_mail" in (stage.folder / "pins.json").read_text(), snippet, "no pins")


def listening(stage: Stage, snippet: Snippet) -> None:
    """Start both servers; a client calls a tool over HTTP."""
    stage.serve()
    stage.shell(snippet.code)
    stage.driven("mcp", "over_http", "url = 'http://127.0.0.1:8790/notes/mcp'")


PLANS = {
    "docs/integrations/mcp.md": Plan(
        before=before,
        steps={
            '"mcpServers"': Step(how=FILE, do=client_settings),
            "--accept": shell(then=pinned),
            "--listen": Step(how=RAN, do=listening),
            "LocalChecks": driven("mcp", "app"),
        },
    ),
}
