"""Failures of the judge and of the SDK."""

import importlib
import sys

import pytest
from agents.exceptions import UserError

from taskshield import AsyncShield, Decision, MissingExtraError
from taskshield.core.errors import JudgeUnavailable
from taskshield.core.levels import Level
from taskshield.integrations.openai_agents import guard
from tests.integrations.openai_agents.agents import (
    ASYNC_WAYS,
    Way,
    agent,
    by_run,
    careful_judge,
    shield,
)
from tests.integrations.openai_agents.scripted_model import (
    READ,
    REPLY,
    TASK,
    Mailbox,
    answer_to,
    say,
    script,
)
from tests.judging import TableJudge

SURFACE = "OpenAI Agents SDK"

PACKAGE = "taskshield.integrations.openai_agents"


@pytest.mark.shows(SURFACE, "tool call", "tool output")
def test_an_outage_lets_reading_go_on_and_nothing_else() -> None:
    box, model = Mailbox(), script(READ, REPLY, say("Done."))
    judge = TableJudge(error=JudgeUnavailable("gone"))
    by_run(guard(agent(model, box.tools), shield(judge)), TASK)
    assert box.sent == []
    assert "could not be checked" in answer_to("read", model)
    assert "could not be made" in answer_to("reply", model)


@pytest.mark.parametrize("level", [Level.USER, Level.ASSISTANT, Level.TOOL])
@pytest.mark.parametrize("way", ASYNC_WAYS)
def test_an_error_inside_the_shield_ends_the_run(way: Way, level: Level) -> None:
    box, model = Mailbox(), script([READ, REPLY], say("Done."))

    def broken(decision: Decision) -> None:
        if decision.case.message.level is level:
            raise OSError("disk full")

    guarded = guard(agent(model, box.tools), AsyncShield(careful_judge(), on_decision=broken))
    with pytest.raises((OSError, UserError), match="disk full"):
        way(guarded, TASK)
    assert len(model.calls) == (0 if level is Level.USER else 1)
    assert level is Level.TOOL or box.sent == []


def test_without_the_sdk_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "agents", None)
    for name in [name for name in sys.modules if name.startswith(PACKAGE)]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(MissingExtraError, match=r"taskshield\[openai-agents\]"):
        importlib.import_module(PACKAGE)
