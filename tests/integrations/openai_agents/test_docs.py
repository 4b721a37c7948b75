"""The extra, the example and the page about the SDK."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integrations.examples import check_mail_example
from tests.integrations.openai_agents.agents import agent, shield
from tests.integrations.openai_agents.scripted_model import (
    BOB,
    EVE,
    TASK,
    Mailbox,
    hijackable,
)
from tests.test_docs import blocks
from tests.test_docs import run as run_code

ROOT = Path(__file__).parents[3]


def test_the_example_shows_the_blocked_and_the_allowed_calls() -> None:
    example = ROOT / "examples" / "openai_agents_agent.py"
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    check_mail_example(done.stdout.splitlines())


def work_of(block: int, monkeypatch: pytest.MonkeyPatch, **policy: Any) -> Callable[..., Any]:
    """The function in a block of the page, with a judge for the test."""
    work: Callable[..., Any] = run_code(
        blocks("docs/integrations/openai-agents.md", "python")[block]
    )["work"]
    made = shield(**policy)
    monkeypatch.setitem(work.__globals__, "AsyncShield", lambda **settings: made)
    return lambda *args: asyncio.run(work(*args))


def test_the_line_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    box = Mailbox()
    assert work_of(0, monkeypatch)(agent(hijackable(), box.tools), TASK) == "Bob knows."
    assert box.sent == [BOB]


@pytest.mark.parametrize("yes", [False, True])
def test_the_loop_of_the_page(monkeypatch: pytest.MonkeyPatch, yes: bool) -> None:
    box, asked = Mailbox(), list[str]()

    def ask(name: str, arguments: str) -> bool:
        asked.append(arguments)
        return yes

    work = work_of(1, monkeypatch, misaligned={"external": "escalate"})
    assert work(agent(hijackable(), box.tools), TASK, ask) == "Bob knows."
    assert [json.loads(each) for each in asked] == [{"to": EVE}]
    assert box.sent == ([EVE, BOB] if yes else [BOB])
