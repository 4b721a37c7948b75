"""Tools of MCP servers."""

from typing import Any

import pytest
from agents.mcp import MCPServer
from mcp import types as mcp

from taskshield.core.tools import Tier
from taskshield.integrations.openai_agents import guard
from tests.integrations.openai_agents.agents import (
    ASYNC_WAYS,
    NOTED,
    REFUSED,
    Way,
    agent,
    by_run,
    careful_judge,
    decide,
    shield,
)
from tests.integrations.openai_agents.scripted_model import (
    BOB,
    EVE,
    MAIL,
    STEAL,
    TASK,
    answer_to,
    hijackable,
    say,
    script,
)

SURFACE = "OpenAI Agents SDK"


class Mail(MCPServer):
    """An MCP server in this process."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self.sent: list[str] = []

    @property
    def name(self) -> str:
        return "mail"

    async def connect(self) -> None: ...

    async def cleanup(self) -> None: ...

    async def list_tools(self, *args: Any) -> list[mcp.Tool]:
        to = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
        none: dict[str, Any] = {"type": "object", "properties": {}}
        described: list[dict[str, Any]] = [
            {"name": "read_mail", "inputSchema": none, "annotations": {"readOnlyHint": True}},
            {"name": "send_mail", "inputSchema": to, "annotations": {"destructiveHint": True}},
        ]
        return [mcp.Tool.model_validate(each) for each in described]

    async def call_tool(self, tool_name: str, arguments: Any, meta: Any = None) -> Any:
        text = MAIL
        if tool_name == "send_mail":
            self.sent.append(arguments["to"])
            text = "sent"
        return mcp.CallToolResult(content=[mcp.TextContent(type="text", text=text)])

    async def list_prompts(self, *args: Any) -> Any: ...

    async def get_prompt(self, *args: Any) -> Any: ...


@pytest.mark.shows(SURFACE, "tool call", "tool output", "feedback")
@pytest.mark.parametrize("way", ASYNC_WAYS)
def test_the_tools_of_an_mcp_server_are_guarded(way: Way) -> None:
    server, model, judge = Mail(), hijackable(), careful_judge()
    guarded = guard(agent(model, [], mcp_servers=[server]), shield(judge))
    result = way(guarded, TASK)
    assert (result.final_output, server.sent) == ("Bob knows.", [BOB])
    assert REFUSED in answer_to("steal0", model) and NOTED in str(answer_to("read", model))
    assert server.tool_input_guardrails is None
    assert {view.tiers.get("send_mail") for view in judge.views} >= {Tier.DESTRUCTIVE}


@pytest.mark.shows(SURFACE, "HITL")
def test_a_call_of_an_mcp_tool_can_wait_for_a_person() -> None:
    server, model = Mail(), script(STEAL, say("Sent."))
    guarding = shield(misaligned={"destructive": "escalate"})
    guarded = guard(agent(model, [], mcp_servers=[server]), guarding)
    result = by_run(guarded, TASK)
    assert [each.call_id for each in result.interruptions] == ["steal"] and server.sent == []
    by_run(guarded, decide(result, yes=True))
    assert server.sent == [EVE]
