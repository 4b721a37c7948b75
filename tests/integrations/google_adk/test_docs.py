"""The extra and the example; tests/docs/test_snippets.py runs the page."""

import importlib
import sys

import pytest

from taskshield import MissingExtraError
from tests.integrations.examples import check_mail_example, printed_by

# ADK builds its own inner runners with an argument that it calls deprecated.
pytestmark = pytest.mark.filterwarnings("ignore:The `plugins` argument:DeprecationWarning")


def test_without_google_adk_the_extra_to_install_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "taskshield.integrations.google_adk"
    monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "google.adk", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'taskshield\[google-adk\]'"):
        importlib.import_module(name)


def test_the_example_runs_and_says_what_happened() -> None:
    check_mail_example(printed_by("google_adk_agent"))
