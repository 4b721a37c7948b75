"""Conversations of many turns and many runs at once."""

import asyncio

import pytest
from pydantic_ai import (
    BinaryContent,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    TextContent,
    ToolReturnPart,
    UserPromptPart,
)

from tests.integrations.pydantic_ai.agents import (
    HIJACKED,
    INJECTED,
    MAIL,
    READ,
    REFUSED,
    REPLY,
    Office,
    Script,
    calls,
    done,
    results,
    says,
)
from tests.judging import TableJudge

SURFACE = "Pydantic AI"


@pytest.mark.shows(SURFACE, "user turn")
def test_every_turn_of_the_user_adds_to_the_tasks_and_nothing_else_does() -> None:
    office, script = Office(), Script([calls(READ), says("Read."), calls(REPLY), says("Sent.")])
    agent = office.agent(script)
    first = agent.run_sync([TextContent("Read my mail."), BinaryContent(b"", media_type="a/b")])
    second = agent.run_sync("Now answer Alice.", message_history=first.all_messages())
    assert second.output == "Sent."
    tasks = [task.text for task in office.decisions[-1].case.tasks]
    assert tasks == ["Read my mail.", "Now answer Alice."]


def test_a_conversation_continues_in_another_process() -> None:
    office = Office()
    first = office.agent(Script([calls(READ), says("Read.")])).run_sync("Read my mail.")
    stored = first.all_messages_json()
    assert stored.count(b'"taskshield":') == 1  # the newest message alone holds the session
    history = ModelMessagesTypeAdapter.validate_json(stored)
    other = Office()
    other.agent(Script(HIJACKED[1:])).run_sync("Answer Alice.", message_history=history)
    assert other.sent == ["alice@example.com"]
    assert [task.text for task in other.decisions[-1].case.tasks][0] == "Read my mail."
    (held,) = [decision for decision in other.decisions if not decision.allowed]
    assert [each.instruction.text for each in held.case.tainted] == [INJECTED]


def test_a_conversation_continues_after_a_stream() -> None:
    office = Office()

    async def work() -> list[ModelMessage]:
        agent = office.agent(Script([calls(READ), says("Read.")]))
        async with agent.run_stream("Read my mail.") as stream:
            await stream.get_output()
            return stream.all_messages()

    history = done(work())
    other = Office()
    other.agent(Script([says("Hello.")])).run_sync("Hello?", message_history=history)
    texts = [decision.case.message.text.strip() for decision in other.decisions]
    assert texts == ["Read.", "Hello?", "Hello."]  # only what the session had not seen
    assert len(other.decisions[-1].case.tasks) == 2


def test_a_history_from_before_the_shield_is_read_and_results_in_it_are_no_tasks() -> None:
    history: list[ModelMessage] = [
        ModelRequest([UserPromptPart("Read my mail.")]),
        calls(READ),
        ModelRequest([ToolReturnPart("read_mail", MAIL, "read"), UserPromptPart(INJECTED)]),
        says("Read."),
    ]
    office, script = Office(), Script(HIJACKED[1:])
    office.agent(script).run_sync("Answer Alice.", message_history=history)
    assert office.sent == ["alice@example.com"]
    tasks = [task.text for task in office.decisions[-1].case.tasks]
    assert tasks == ["Read my mail.", "Answer Alice."]


def test_concurrent_runs_do_not_mix() -> None:
    office = Office()
    asked = TableJudge(score=lambda call, task: float("read" in call or "Alice" in task))
    shield = office.shield(asked)
    reached = asyncio.Barrier(2)

    async def read_mail() -> str:
        await reached.wait()
        return "nothing"

    async def one(wish: str) -> str:
        script = Script([calls(READ), calls(REPLY), says("Done.")])
        agent = office.agent(script, shield, tools=[read_mail, office.send_mail])
        result = await agent.run(wish)
        return str(results(result.all_messages())["reply"].content)

    async def both() -> tuple[str, str]:
        return await asyncio.gather(one("Ask Alice."), one("Ask Bob."))

    for_alice, for_bob = done(both())
    assert for_alice == "sent" and REFUSED in for_bob and "Ask Bob." in for_bob
    assert office.sent == ["alice@example.com"]
