"""A gateway and the calls and results of one client or several."""

import asyncio
import logging
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    TextContent,
    TextResourceContents,
)

from taskshield import AsyncShield
from taskshield.core.errors import JudgeUnavailable
from taskshield.integrations.mcp import Gateway, LocalChecks, Rules
from tests.integrations.mcp.gateways import BOTH, selling
from tests.integrations.mcp.office import HIJACK, office
from tests.integrations.mcp.stage import EVIL, GOOD, NOWHERE, guarded, judge, text, through

pytestmark = pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")


@BOTH
@pytest.mark.shows("MCP", "tool call", "tool output", "feedback")
def test_a_hijacked_agent_does_what_the_user_wants_and_nothing_else(mode: str) -> None:
    done: list[str] = []

    async def scene() -> None:
        async with guarded(wrapped=office(done=done), mode=mode) as client:
            mail = await client.call_tool("read_mail", {"folder": "inbox"})
            assert "lunch on Friday" in text(mail) and not mail.is_error
            assert "holds instructions that do not serve the user's tasks" in text(mail)
            evil = await client.call_tool("send_mail", EVIL)
            assert evil.is_error and "Not carried out" in text(evil)
            assert "Read my newest mail." in text(evil)
            good = await client.call_tool("send_mail", GOOD)
            assert text(good) == "Sent to dan@office.example."

    asyncio.run(scene())
    assert done == ["read inbox", "sent to dan@office.example"]


@pytest.mark.shows("MCP", "tool call")
def test_of_calls_at_the_same_time_the_aligned_ones_run() -> None:
    done: list[str] = []

    async def scene() -> None:
        async with guarded(wrapped=office(done=done)) as client:
            calls = [client.call_tool("send_mail", given) for given in (GOOD, EVIL, GOOD)]
            answers = await asyncio.gather(*calls)
            assert [answer.is_error for answer in answers] == [False, True, False]

    asyncio.run(scene())
    assert done == ["sent to dan@office.example"] * 2


@BOTH
def test_redacted_results_keep_their_shape(mode: str) -> None:
    async def scene() -> None:
        async with guarded(mode=mode, policy={"output": "redact"}) as client:
            mail = await client.call_tool("read_mail", {})
            assert mail.structured_content == {
                "result": "Dear Emma, lunch on Friday at noon? Best, Dan.\n\n"
                "[removed by Task Shield]"
            }
            rooms = await client.call_tool("list_rooms", {})
            assert rooms.structured_content == {"blue": "free", "red": "[removed by Task Shield]"}
            for result in (mail, rooms):
                assert "evil" not in text(result) and "removed: 1" in text(result)
            whole = await client.call_tool("get_report", {})
            assert text(whole) == "All is well." and whole.meta is not None
            assert whole.meta["page"] == 3

    asyncio.run(scene())


@BOTH
@pytest.mark.shows("MCP", "tool output")
def test_resources_and_prompts_are_checked_like_results(mode: str) -> None:
    async def scene() -> None:
        async with guarded(mode=mode) as client:
            read = await client.read_resource("office://manual")
            first, note = read.contents
            assert isinstance(first, TextResourceContents) and HIJACK in first.text
            assert isinstance(note, TextResourceContents) and "[Task Shield" in note.text
            prompt = await client.get_prompt("greet", {"name": "Bo"})
            said, added = (message.content for message in prompt.messages)
            assert isinstance(said, TextContent) and said.text.startswith("Greet Bo.")
            assert isinstance(added, TextContent) and added.text.startswith("[Task Shield")
        async with guarded(mode=mode, policy={"output": "redact"}) as client:
            read = await client.read_resource("office://manual")
            prompt = await client.get_prompt("greet", {"name": "Bo"})
            assert HIJACK not in f"{read} {prompt}"

    asyncio.run(scene())


@pytest.mark.parametrize("policy", ["annotate", "redact"])
@pytest.mark.shows("MCP", "tool output")
def test_errors_are_checked_like_results(policy: str) -> None:
    async def called(ctx: Any, params: Any) -> CallToolResult:
        raise MCPError(-32050, f"No such price. {HIJACK}", {"try": "another one"})

    async def scene() -> MCPError:
        shop = selling("Finds a price.")
        shop.add_request_handler("tools/call", CallToolRequestParams, called)
        async with guarded(wrapped=shop, policy={"output": policy}) as client:
            with pytest.raises(MCPError) as raised:
                await client.call_tool("find_price", {})
        return raised.value

    error = asyncio.run(scene())
    assert error.code == -32050 and "[Task Shield" in error.message
    assert "No such price." in error.message
    assert (HIJACK in error.message) == (policy == "annotate")
    assert error.data == ({"try": "another one"} if policy == "annotate" else None)


@BOTH
def test_without_a_task_read_calls_are_allowed_and_checked(mode: str) -> None:
    done: list[str] = []

    async def scene() -> None:
        async with guarded(wrapped=office(done=done), task=None, mode=mode) as client:
            assert "does not know the user's task" in str(client.session.instructions)
            mail = await client.call_tool("read_mail", {})
            assert not mail.is_error and "[Task Shield" in text(mail)
            sent = await client.call_tool("send_mail", GOOD)
            assert sent.is_error and "does not know the user's task" in text(sent)

    asyncio.run(scene())
    assert done == ["read inbox"]


@pytest.mark.parametrize(("rule", "passed"), [("allow", 2), ("refuse", 0)])
def test_the_rule_for_calls_without_a_task_can_be_set(rule: Any, passed: int) -> None:
    done: list[str] = []

    async def scene() -> None:
        rules = Rules(no_goal=rule)
        async with guarded(wrapped=office(done=done), task=None, rules=rules) as client:
            await client.call_tool("read_mail", {})
            await client.call_tool("send_mail", GOOD)

    asyncio.run(scene())
    assert len(done) == passed


@pytest.mark.shows("MCP", "tool call")
def test_calls_with_side_effects_are_blocked_if_the_judge_fails() -> None:
    done: list[str] = []
    broken = judge(error=JudgeUnavailable("the judge is gone"))

    async def scene() -> None:
        async with guarded(wrapped=office(done=done), by=broken) as client:
            listed = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert "could not be checked" in str(listed["send_mail"].description)
            mail = await client.call_tool("read_mail", {})
            assert "This tool output could not be checked." in text(mail)
            sent = await client.call_tool("send_mail", GOOD)
            assert sent.is_error and "could not be made" in text(sent)
            assert "Why: the judge is gone." in text(sent)

    asyncio.run(scene())
    assert done == ["read inbox"]


@pytest.mark.shows("MCP", "feedback")
def test_after_the_rounds_a_misaligned_call_is_blocked() -> None:
    async def scene() -> None:
        async with guarded(policy={"rounds": 1}) as client:
            first = await client.call_tool("send_mail", EVIL)
            assert "Revise your step" in text(first)
            second = await client.call_tool("send_mail", EVIL)
            assert "will not be carried out" in text(second)

    asyncio.run(scene())


def test_clients_of_one_gateway_do_not_mix() -> None:
    """Messages of one client taint only its own session."""
    table = judge(taint=lambda text, tainted: 2.0)

    async def scene() -> None:
        async with AsyncShield(table) as shield:
            gateway = Gateway(NOWHERE, LocalChecks(shield, task="Answer Dan."))
            async with (
                Client(through(gateway, office()), mode="legacy") as reader,
                Client(through(gateway, office()), mode="legacy") as writer,
            ):
                await reader.call_tool("read_mail", {})
                answers = await asyncio.gather(
                    reader.call_tool("send_mail", GOOD), writer.call_tool("send_mail", GOOD)
                )
                assert [answer.is_error for answer in answers] == [True, False]

    asyncio.run(scene())


def test_a_session_by_name_needs_a_server_that_knows_it() -> None:
    async def scene() -> None:
        async with guarded() as client:
            for name in ("mine", "", 7):
                meta: Any = {"taskshield/session": name}
                with pytest.raises(MCPError) as raised:
                    await client.call_tool("read_mail", {}, meta=meta)
                assert raised.value.code == -32602

    asyncio.run(scene())


def test_a_result_that_is_nested_too_deeply_is_withheld() -> None:
    deep: Any = "x"
    for _ in range(150):
        deep = [deep]

    async def called(ctx: Any, params: Any) -> CallToolResult:
        return CallToolResult(content=[], structured_content={"deep": deep})

    async def scene() -> None:
        shop = selling("Finds a price.")
        shop.add_request_handler("tools/call", CallToolRequestParams, called)
        async with guarded(wrapped=shop) as client:
            result = await client.call_tool("find_price", {})
            assert result.is_error and "cannot be checked" in text(result)

    asyncio.run(scene())


def test_logs_name_blocked_calls_and_quote_no_messages(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "taskshield")

    async def scene() -> None:
        async with guarded() as client:
            await client.call_tool("read_mail", {})
            await client.call_tool("send_mail", EVIL)

    asyncio.run(scene())
    assert "blocked a call of 'send_mail'" in caplog.text
    assert "evil" not in caplog.text and "Friday" not in caplog.text
