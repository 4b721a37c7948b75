"""The extra and the example; tests/docs/test_snippets.py runs the page."""

import importlib
import sys

import pytest

from taskshield import MissingExtraError
from tests.integrations.examples import check_mail_example, printed_by


def test_without_pydantic_ai_the_extra_to_install_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "taskshield.integrations.pydantic_ai"
    monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'taskshield\[pydantic-ai\]'"):
        importlib.import_module(name)


def test_the_example_runs_and_says_what_happened() -> None:
    check_mail_example(printed_by("pydantic_ai_agent"))
