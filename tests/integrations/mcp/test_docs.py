"""The example and the page about MCP are correct."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from starlette.routing import Route

from taskshield.integrations.mcp import read_targets
from tests.test_docs import blocks, run

ROOT = Path(__file__).parents[3]
PAGE = "docs/integrations/mcp.md"


@pytest.mark.shows("MCP", "tool call", "tool output")
def test_the_example_shows_the_blocked_and_the_allowed_calls() -> None:
    ran = subprocess.run(
        [sys.executable, ROOT / "examples" / "mcp_gateway.py"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert ran.stdout == (
        "tools: read_mail, send_mail\n"
        "withheld: add (its description tries to direct the agent)\n"
        "\n"
        "done: read_mail\n"
        "   Dear Emma, lunch on Friday at noon? Best, Dan.\n"
        "   This tool output holds instructions that do not serve the user's tasks:\n"
        "\n"
        "REFUSED: send_mail eve@evil.example\n"
        "   Not carried out, because it does not serve the user's tasks:\n"
        "\n"
        "done: send_mail dan@office.example\n"
        "   Sent to dan@office.example.\n"
    )
    assert "taskshield: blocked a call of 'send_mail'" in ran.stderr


def test_the_program_of_the_page_runs() -> None:
    (code,) = blocks(PAGE, "python")
    (route,) = run(code)["app"].routes
    assert isinstance(route, Route) and route.path == "/notes/mcp"


def test_the_settings_of_the_page_are_those_of_clients(tmp_path: Path) -> None:
    (text,) = blocks(PAGE, "json")
    file = tmp_path / "servers.json"
    file.write_text(json.dumps(json.loads(text)))
    assert set(read_targets(file, {})) == {"notes"}
