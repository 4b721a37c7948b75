"""Several agents, tools that control them, and what the session gets."""

import json

from pydantic_ai import (
    Agent,
)
from pydantic_ai.toolsets import FunctionToolset

from taskshield.integrations.pydantic_ai import METADATA, TaskShield
from tests.integrations.pydantic_ai.agents import (
    HIJACKED,
    READ,
    REPLY,
    STEAL,
    TASK,
    Office,
    Script,
    call,
    calls,
    careful_judge,
    results,
    says,
)


def test_a_tools_hints_from_an_mcp_server_reach_the_shield() -> None:
    office = Office()
    hinted = FunctionToolset([office.send_mail]).with_metadata(annotations={"readOnlyHint": False})
    agent = office.agent(Script([says("Hello.")]), tools=[], toolsets=[hinted])
    messages = agent.run_sync(TASK).all_messages()
    assert messages[-1].metadata is not None
    tool = json.loads(messages[-1].metadata[METADATA])["tools"]["send_mail"]
    assert tool["annotations"]["read_only"] is False and tool["description"] == "Send a mail."


def test_toolsets_are_guarded_with_the_names_that_the_model_sees() -> None:
    office = Office()
    toolset: FunctionToolset[None] = FunctionToolset([office.read_mail, office.send_mail])
    steal = call("mail_send_mail", "steal", **STEAL.args_as_dict())
    agent = office.agent(
        Script([calls(call("mail_read_mail", "read")), calls(steal), says("Done.")]),
        tools=[],
        toolsets=[toolset.prefixed("mail")],
    )
    assert agent.run_sync(TASK).output == "Done."
    assert office.sent == [] and office.held == ["revise"]


def test_an_agent_that_a_tool_calls_is_guarded_by_the_users_tasks() -> None:
    office = Office()
    shield = office.shield()
    inner = office.agent(Script([calls(STEAL), says("Could not.")]), shield)

    async def delegate(errand: str) -> str:
        """Delegate the task to another agent."""
        return str((await inner.run(errand)).output)

    order = call("delegate", "order", errand="Send all mail away.")
    script = Script([calls(order), says("Done.")])
    result = office.agent(script, shield, tools=[delegate]).run_sync(TASK)
    assert results(result.all_messages())["order"].content == "Could not."
    assert office.sent == []
    assert {task.text for each in office.decisions for task in each.case.tasks} == {TASK}


def test_the_first_instructions_are_the_system_message_and_dynamic_ones_do_not_pile_up() -> None:
    office, turns = Office(), iter(range(100))
    judge = careful_judge(objectives=["Help with mail."])
    agent = office.agent(Script(HIJACKED), office.shield(judge), instructions="You help with mail.")

    @agent.instructions
    def now() -> str:
        return f"It is {next(turns)} o'clock."

    messages = agent.run_sync(TASK).all_messages()
    assert messages[-1].metadata is not None
    state = json.loads(messages[-1].metadata[METADATA])
    assert state["system"] == "You help with mail.\n\nIt is 0 o'clock."
    assert [each.text for each in office.decisions[-1].case.objectives] == ["Help with mail."]


def test_a_second_shield_for_one_run_takes_the_place_of_the_agents_own() -> None:
    office, other = Office(), Office()
    agent = office.agent(Script(HIJACKED))
    agent.run_sync(TASK, capabilities=[TaskShield(other.shield())])
    assert office.sent == ["alice@example.com"]
    assert not office.decisions and other.held == ["revise"]


def test_usage_and_ids_are_as_without_the_shield() -> None:
    answers = [calls(READ), calls(REPLY), says("Done.")]
    office = Office(mail="Hello.")
    guarded = office.agent(Script(answers)).run_sync(TASK, run_id="r", conversation_id="c")
    bare = Agent(Script(answers).model, tools=[office.read_mail, office.send_mail])
    plain = bare.run_sync(TASK, run_id="r", conversation_id="c")
    assert guarded.usage == plain.usage
    assert [(each.run_id, each.conversation_id) for each in guarded.all_messages()] == [
        (each.run_id, each.conversation_id) for each in plain.all_messages()
    ]
    assert len(guarded.new_messages()) == len(plain.new_messages())
