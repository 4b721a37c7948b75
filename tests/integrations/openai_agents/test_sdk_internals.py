"""What `sdk_internals` relies on. A failure here means that a release of the SDK changed it."""

from agents import Agent, function_tool, handoff

from taskshield.integrations.openai_agents.sdk_internals import (
    agent_of,
    is_agent_tool,
    set_target,
    target_of,
)


@function_tool
def plain() -> str:
    return ""


def test_a_tool_that_runs_an_agent_is_known_and_so_is_its_agent() -> None:
    clerk = Agent(name="Clerk")
    tool = clerk.as_tool("clerk", "Asks the clerk.")
    assert is_agent_tool(tool) and agent_of(tool) is clerk
    assert not is_agent_tool(plain) and agent_of(plain) is None


def test_the_target_of_a_handoff_can_be_read_and_set() -> None:
    clerk, guarded = Agent(name="Clerk"), Agent(name="Guarded clerk")
    to_clerk = handoff(clerk)
    assert target_of(to_clerk) is clerk
    set_target(to_clerk, guarded)
    assert target_of(to_clerk) is guarded
