"""Conversations of many turns and many runs at once."""

import asyncio

import pytest
from google.adk.apps import App
from google.adk.runners import Runner

from taskshield.integrations.google_adk import TaskShieldPlugin
from tests.integrations.google_adk.agents import (
    HIJACKED,
    INJECTED,
    MAIL,
    READ,
    REFUSED,
    REPLY,
    TASK,
    Office,
    Script,
    says,
    talk,
)
from tests.judging import TableJudge

SURFACE = "Google ADK"
# ADK builds its own inner runners with an argument that it calls deprecated.
pytestmark = pytest.mark.filterwarnings("ignore:The `plugins` argument:DeprecationWarning")


@pytest.mark.shows(SURFACE, "user turn")
def test_a_conversation_continues_in_another_process() -> None:
    office = Office()

    async def work() -> None:
        await talk(office.runner(office.agent(Script([[READ], [says("Read.")]]))), "Read my mail.")
        other = office.runner(office.agent(Script(HIJACKED[1:])), office.shield())
        await talk(other, "Answer Alice.")

    asyncio.run(work())
    assert office.sent == ["alice@example.com"]
    tasks = [task.text for task in office.decisions[-1].case.tasks]
    assert tasks == ["Read my mail.", "Answer Alice."]
    (held,) = [decision for decision in office.decisions if not decision.allowed]
    assert [each.instruction.text for each in held.case.tainted] == [INJECTED]


def test_a_conversation_from_before_the_shield_is_read_and_results_in_it_are_no_tasks() -> None:
    office = Office()

    async def work() -> None:
        bare = App(name="mail", root_agent=office.agent(Script([[READ], [says("Read.")]])))
        runner = Runner(app=bare, session_service=office.sessions, auto_create_session=True)
        await talk(runner, "Read my mail.")
        await talk(office.runner(office.agent(Script(HIJACKED[1:]))), "Answer Alice.")

    asyncio.run(work())
    assert office.sent == ["alice@example.com"]
    tasks = [task.text for task in office.decisions[-1].case.tasks]
    assert tasks == ["Read my mail.", "Answer Alice."]


def test_a_conversation_continues_after_a_failed_run() -> None:
    broken = iter([True, False])

    def read_mail() -> str:
        if next(broken):
            raise OSError("no mail today")
        return MAIL

    office = Office()
    tools = [read_mail, office.send_mail]
    plugin = TaskShieldPlugin(office.shield())

    async def work() -> None:
        for wish, answers in ((TASK, [[READ]]), ("Try again.", HIJACKED)):
            agent = office.agent(Script(answers), tools=tools)
            app = App(name="mail", root_agent=agent, plugins=[plugin])
            runner = Runner(app=app, session_service=office.sessions, auto_create_session=True)
            try:
                await talk(runner, wish)
            except OSError:
                assert not plugin._guards

    asyncio.run(work())
    assert office.sent == ["alice@example.com"]
    assert [task.text for task in office.decisions[-1].case.tasks] == [TASK, "Try again."]


@pytest.mark.parametrize("remembered", [1_000, 1])
def test_concurrent_invocations_do_not_mix_and_none_is_kept(
    remembered: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("taskshield.integrations.google_adk.plugin._MOST_INVOCATIONS", remembered)
    office = Office()
    asked = TableJudge(score=lambda call, task: float("read" in call or "Alice" in task))
    reached = asyncio.Barrier(2)
    plugin = TaskShieldPlugin(office.shield(asked))

    async def read_mail() -> str:
        await reached.wait()
        return "nothing"

    async def one(wish: str) -> str:
        script = Script([[READ], [REPLY], [says("Done.")]])
        agent = office.agent(script, tools=[read_mail, office.send_mail])
        app = App(name="mail", root_agent=agent, plugins=[plugin])
        runner = Runner(app=app, session_service=office.sessions, auto_create_session=True)
        await talk(runner, wish, session=wish)
        return script.heard[2]

    async def both() -> tuple[str, str]:
        return await asyncio.gather(one("Ask Alice."), one("Ask Bob."))

    for_alice, for_bob = asyncio.run(both())
    assert REFUSED not in for_alice and REFUSED in for_bob and "Ask Bob." in for_bob
    assert office.sent == ["alice@example.com"] and not plugin._guards
