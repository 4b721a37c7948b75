"""The example about MCP is correct; tests/docs/test_snippets.py runs the page."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


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
        "   Not carried out, because the user or the operator ruled it out:\n"
        "\n"
        "done: send_mail dan@office.example\n"
        "   Sent to dan@office.example.\n"
    )
    assert "taskshield: blocked a call of 'send_mail'" in ran.stderr
