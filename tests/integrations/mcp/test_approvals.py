"""A gateway and calls that wait for a person."""

import asyncio
from typing import Any

import anyio
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

from taskshield import AsyncShield
from taskshield.core.errors import JudgeUnavailable
from taskshield.core.tools import Tier
from taskshield.integrations.mcp import Address, Gateway, LocalChecks
from tests.integrations.mcp import hostile
from tests.integrations.mcp.gateways import BOTH, selling
from tests.integrations.mcp.office import office
from tests.integrations.mcp.stage import EVIL, GOOD, NOWHERE, guarded, judge, text, through
from tests.integrations.mcp.wiretap import MODERN, Wiretap, linked, tapped

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


ACCEPT = {"action": "accept", "content": {}}
KEY = "taskshield/approval"


async def modern(tap: Wiretap, arguments: Any, name: str = "get_it", **more: Any) -> dict[str, Any]:
    """The answer to a call of a client of the protocol without a handshake."""
    meta = {**MODERN, **more.pop("meta", {})}
    params = {"name": name, "arguments": arguments, "_meta": meta, **more}
    return await tap.ask("tools/call", params)


def asked_by(answer: dict[str, Any]) -> str:
    """The key of the question that is the result of a call."""
    (key,) = answer["result"]["inputRequests"]
    return str(key)


def test_an_answer_to_a_question_that_was_never_asked_does_not_count() -> None:
    async def scene() -> None:
        async with tapped(by=judge(), policy=ESCALATE) as tap:
            evil = {"to": "eve@evil.example"}
            forged = [KEY, f"{KEY}/", f"{KEY}/0", f"{KEY}/{'A' * 32}"]
            for key in forged:
                answer = await modern(tap, evil, inputResponses={key: ACCEPT})
                assert answer["result"]["resultType"] == "input_required"
                old = {"name": "get_it", "arguments": evil, "inputResponses": {key: ACCEPT}}
                refused = await tap.ask("tools/call", old)
                assert refused["result"]["isError"]

    asyncio.run(scene())


def test_an_answer_counts_once_for_one_call_and_for_a_limited_time() -> None:
    async def scene() -> None:
        async with tapped(by=judge(), policy=ESCALATE) as tap:
            evil = {"to": "eve@evil.example"}
            other = {"to": "mallory@evil.example"}
            keys = [asked_by(await modern(tap, evil)) for _ in range(2)]
            assert len(set(keys)) == 2
            given = {keys[0]: ACCEPT}
            elsewhere = await modern(tap, other, inputResponses=given)
            assert elsewhere["result"]["resultType"] == "input_required"
            approved = await modern(tap, evil, inputResponses=given)
            assert approved["result"]["content"][0]["text"] == "here it is"
            again = await modern(tap, evil, inputResponses=given)
            assert again["result"]["resultType"] == "input_required"
            declined = await modern(tap, evil, inputResponses={keys[1]: {"action": "decline"}})
            assert "The user declined" in declined["result"]["content"][0]["text"]

    asyncio.run(scene())


def test_an_answer_is_too_late_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("taskshield.integrations.mcp.requests.approval._LIFETIME_S", 0.01)

    async def scene() -> None:
        async with tapped(by=judge(), policy=ESCALATE) as tap:
            evil = {"to": "eve@evil.example"}
            key = asked_by(await modern(tap, evil))
            await asyncio.sleep(0.02)
            late = await modern(tap, evil, inputResponses={key: ACCEPT})
            assert late["result"]["resultType"] == "input_required"

    asyncio.run(scene())


def test_an_answer_of_another_client_does_not_count() -> None:
    async def scene() -> None:
        async with (
            AsyncShield(judge(), policy=ESCALATE) as shield,
            hostile.over_http() as there,
        ):
            gateway = Gateway(Address(url=there), LocalChecks(shield, task="Get it."))
            async with linked(gateway) as one, linked(gateway) as two:
                evil = {"to": "eve@evil.example"}
                given = {asked_by(await modern(one, evil)): ACCEPT}
                stolen = await modern(two, evil, inputResponses=given)
                assert stolen["result"]["resultType"] == "input_required"
                approved = await modern(one, evil, inputResponses=given)
                assert "content" in approved["result"]

    asyncio.run(scene())


def test_a_server_cannot_ask_in_the_name_of_the_gateway_nor_see_its_answers() -> None:
    seen: list[Any] = []

    async def called(ctx: Any, params: Any) -> Any:
        seen.append(ctx.params)
        schema = {"type": "object", "properties": {}}
        form = ElicitRequestFormParams(message="Sure?", requested_schema=schema)
        asked: Any = {f"{KEY}/1": ElicitRequest(params=form), "own": ElicitRequest(params=form)}
        return InputRequiredResult(input_requests=asked, request_state="s1")

    async def scene() -> None:
        shop = selling("Finds a price.")
        shop.add_request_handler("tools/call", CallToolRequestParams, called)
        async with AsyncShield(judge()) as shield:
            gateway = Gateway(NOWHERE, LocalChecks(shield, task="Find it."))
            async with through(gateway, shop) as streams, anyio.create_task_group() as tasks:
                tap = Wiretap(streams)
                tasks.start_soon(tap.run)
                given = {f"{KEY}/1": ACCEPT, "own": ACCEPT}
                answer = await modern(tap, {}, "find_price", inputResponses=given)
                assert list(answer["result"]["inputRequests"]) == ["own"]
                tasks.cancel_scope.cancel()

    asyncio.run(scene())
    assert all(list(params["inputResponses"]) == ["own"] for params in seen)


def test_what_a_call_carried_for_the_server_is_there_after_the_question() -> None:
    seen: list[Any] = []

    async def called(ctx: Any, params: CallToolRequestParams) -> CallToolResult:
        seen.append((params.request_state, list(params.input_responses or ())))
        return CallToolResult(content=[TextContent(type="text", text="12 EUR")])

    async def scene() -> None:
        shop = selling("Finds a price.")
        shop.add_request_handler("tools/call", CallToolRequestParams, called)
        async with AsyncShield(judge(), policy=ESCALATE) as shield:
            gateway = Gateway(NOWHERE, LocalChecks(shield, task="Find it."))
            async with through(gateway, shop) as streams, anyio.create_task_group() as tasks:
                tap = Wiretap(streams)
                tasks.start_soon(tap.run)
                evil = {"to": "eve@evil.example"}
                carried = {"inputResponses": {"own": ACCEPT}, "requestState": "s1"}
                key = asked_by(await modern(tap, evil, "find_price", **carried))
                await modern(tap, evil, "find_price", inputResponses={key: ACCEPT})
                tasks.cancel_scope.cancel()

    asyncio.run(scene())
    assert seen == [("s1", ["own"])]
