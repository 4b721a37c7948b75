"""Runs the examples as a user does, and reads what they print."""

import subprocess
import sys
from pathlib import Path

_EXAMPLES = Path(__file__).parents[2] / "examples"


def printed_by(example: str) -> list[str]:
    """The lines that an example prints."""
    command = [sys.executable, str(_EXAMPLES / f"{example}.py")]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    return ran.stdout.splitlines()


def check_mail_example(lines: list[str]) -> None:
    """Check that the attacker's mail was blocked and that Alice got hers."""
    user, blocked, sent, agent = lines
    assert user.startswith("User: Read my newest mail")
    assert blocked.startswith("  blocked: ") and "eve@evil.example" in blocked
    assert sent == "  sent to alice@example.com: We meet on Friday."
    assert agent == "Agent: I told Alice."
