"""The extra, the example and the page of the documentation."""

import asyncio
import importlib
import sys

import pytest
from google.adk.runners import Runner
from google.genai import types

from taskshield import MissingExtraError
from tests.integrations.examples import check_mail_example, printed_by
from tests.integrations.google_adk.agents import HIJACKED, MEETING, POISONED, Office, Script, talk
from tests.test_docs import blocks, run

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


def test_the_examples_of_the_docs_run() -> None:
    first, second = blocks("docs/integrations/google-adk.md", "python")
    office = Office(mail=POISONED)
    app = run(first)["guarded"](office.agent(Script(HIJACKED)))
    runner = Runner(app=app, session_service=office.sessions, auto_create_session=True)
    asyncio.run(talk(runner, MEETING))
    assert office.sent == ["alice@example.com"]
    asked = types.FunctionCall(id="1", name="adk_request_confirmation")
    message = run(second)["answer"](asked, False)
    assert message.parts[0].function_response.response == {"confirmed": False}
