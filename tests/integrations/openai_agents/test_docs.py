"""The example; tests/docs/test_snippets.py runs the page."""

import subprocess
import sys
from pathlib import Path

from tests.integrations.examples import check_mail_example

ROOT = Path(__file__).parents[3]


def test_the_example_shows_the_blocked_and_the_allowed_calls() -> None:
    example = ROOT / "examples" / "openai_agents_agent.py"
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    check_mail_example(done.stdout.splitlines())
