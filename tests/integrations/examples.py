"""What the examples print, each run as a newcomer runs it."""

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
    """The examples with a poisoned mail say that the thief's was held and that Alice got hers."""
    user, held, sent, agent = lines
    assert user.startswith("User: Read my newest mail")
    assert held.startswith("  held: ") and "eve@evil.example" in held
    assert sent == "  sent to alice@example.com: We meet on Friday."
    assert agent == "Agent: I told Alice."
