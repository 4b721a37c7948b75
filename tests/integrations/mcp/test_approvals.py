"""A gateway and calls that wait for a person."""

import asyncio
from typing import Any

import pytest
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    ErrorData,
    InputRequiredResult,
    TextContent,
)

from taskshield.core.errors import JudgeUnavailable
from taskshield.core.tools import Tier
from tests.integrations.mcp.gateways import BOTH, selling
from tests.integrations.mcp.office import office
from tests.integrations.mcp.stage import EVIL, GOOD, guarded, judge, text

pytestmark = pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")

ESCALATE = {"misaligned": {tier.value: "escalate" for tier in Tier}}


@BOTH
@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
@pytest.mark.shows("MCP", "HITL")
def test_a_person_is_asked_if_policy_says_escalate(mode: str, action: Any) -> None:
    done: list[str] = []
    asked: list[str] = []

    async def answered(context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action=action)

    async def scene() -> tuple[CallToolResult, CallToolResult]:
        async with guarded(
            wrapped=office(done=done), policy=ESCALATE, mode=mode, elicitation_callback=answered
        ) as client:
            first = await client.call_tool("send_mail", EVIL)
            return first, await client.call_tool("send_mail", GOOD)

    first, second = asyncio.run(scene())
    assert len(asked) == 1 and "eve@evil.example" in asked[0]
    assert not second.is_error
    if action == "accept":
        assert text(first) == "Sent to eve@evil.example." and len(done) == 2
    else:
        assert first.is_error and "The user declined this call" in text(first) and len(done) == 1


@BOTH
@pytest.mark.shows("MCP", "HITL")
def test_a_call_that_needs_a_person_is_blocked_if_the_client_cannot_ask_its_user(mode: str) -> None:
    async def scene() -> None:
        async with guarded(policy=ESCALATE, mode=mode) as client:
            refused = await client.call_tool("send_mail", EVIL)
            assert refused.is_error and "This client cannot ask its user" in text(refused)

    asyncio.run(scene())


def test_a_client_that_fails_to_ask_counts_as_unable_to_ask() -> None:
    async def broken(context: Any, params: Any) -> ErrorData:
        return ErrorData(code=-1, message="no screen")

    async def scene() -> None:
        async with guarded(policy=ESCALATE, elicitation_callback=broken) as client:
            refused = await client.call_tool("send_mail", EVIL)
            assert refused.is_error and "This client cannot ask its user" in text(refused)

    asyncio.run(scene())


def test_the_question_to_a_person_says_that_the_call_could_not_be_checked() -> None:
    asked: list[str] = []

    async def answered(context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={})

    async def scene() -> None:
        outage = {"outage": {tier.value: "escalate" for tier in Tier}}
        gone = judge(error=JudgeUnavailable("gone"))
        async with guarded(policy=outage, by=gone, elicitation_callback=answered) as client:
            assert not (await client.call_tool("send_mail", GOOD)).is_error

    asyncio.run(scene())
    assert len(asked) == 1 and asked[0].startswith("Task Shield could not check")


def test_a_servers_question_before_its_answer_is_forwarded() -> None:
    async def called(ctx: Any, params: CallToolRequestParams) -> Any:
        if params.input_responses is None:
            form = {"type": "object", "properties": {}}
            asked = ElicitRequest(
                params=ElicitRequestFormParams(message="Sure?", requested_schema=form)
            )
            return InputRequiredResult(input_requests={"sure": asked}, request_state="s1")
        said = f"{list(params.input_responses)} {params.request_state}"
        return CallToolResult(content=[TextContent(type="text", text=said)])

    async def answered(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={})

    async def scene() -> None:
        shop = selling("Finds a price.")
        shop.add_request_handler("tools/call", CallToolRequestParams, called)
        async with guarded(wrapped=shop, mode="auto", elicitation_callback=answered) as client:
            assert text(await client.call_tool("find_price", {})) == "['sure'] s1"

    asyncio.run(scene())
