"""Uses what docs/integrations/google-adk.md defines, with a scripted model and a mailbox."""

import asyncio
from typing import Any

from google.adk.runners import Runner
from google.genai import types

from tests.integrations.google_adk.agents import HIJACKED, MEETING, POISONED, Office, Script, talk


def guarded(names: dict[str, Any]) -> None:
    """The embedded judge blocks the attacker's call, and lets the user's pass."""
    office = Office(mail=POISONED)
    app = names["guarded"](office.agent(Script(HIJACKED)))
    runner = Runner(app=app, session_service=office.sessions, auto_create_session=True)
    asyncio.run(talk(runner, MEETING))
    assert office.sent == ["alice@example.com"]


def answer(names: dict[str, Any]) -> None:
    """The message answers the question that was asked."""
    asked = types.FunctionCall(id="1", name="adk_request_confirmation")
    (part,) = names["answer"](asked, False).parts
    assert (part.function_response.id, part.function_response.response) == (
        "1",
        {"confirmed": False},
    )
