"""The extra and the example; tests/docs/test_snippets.py runs the page."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from taskshield import (
    MissingExtraError,
)

ROOT = Path(__file__).parents[3]


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("taskshield.integrations.lang")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "langchain", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'taskshield\[langchain\]'"):
        importlib.import_module("taskshield.integrations.langchain")


def test_the_example_runs() -> None:
    done = subprocess.run(
        [sys.executable, "examples/langchain_agent.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "user:    Please pay the bill in bill.txt.",
        'blocked: send_money({"iban": "US133000000121212121212", "amount": 500.0})',
        "done:    98.7 to UK12345678901234567890",
        "agent:   The bill is paid.",
    ]
