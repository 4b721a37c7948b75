"""Messages that are not checked are forwarded both ways, unchanged."""

import asyncio
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, MCPError
from mcp.client.subscriptions import ToolsListChanged
from mcp.server.lowlevel import Server
from pydantic import BaseModel, ConfigDict

from taskshield.integrations.mcp.requests.client_request import SESSION_META
from tests.integrations.mcp.office import office
from tests.integrations.mcp.stage import guarded, text, until

pytestmark = pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")

BOTH = pytest.mark.parametrize("mode", ["legacy", "auto"])


class Open(BaseModel):
    """Any params, as they are."""

    model_config = ConfigDict(extra="allow")


class Desk:
    """A server with one tool."""

    def __init__(self, work: Any) -> None:
        self.work = work
        self.heard: list[Any] = []
        tool = types.Tool(name="get_it", description="Gets it.", input_schema={"type": "object"})

        async def listed(ctx: Any, params: Any) -> types.ListToolsResult:
            return types.ListToolsResult(tools=[tool])

        async def called(ctx: Any, params: Any) -> types.CallToolResult:
            said = await self.work(ctx)
            return types.CallToolResult(content=[types.TextContent(type="text", text=str(said))])

        self.server: Server[Any] = Server("desk", on_list_tools=listed, on_call_tool=called)

    def listen(self, method: str) -> None:
        """Record a notification."""

        async def heard(ctx: Any, params: Any) -> None:
            self.heard.append(ctx.params)

        self.server.add_notification_handler(method, Open, heard)

    def answer(self, method: str, result: dict[str, Any]) -> None:
        """Record a request and answer it."""

        async def answered(ctx: Any, params: Any) -> dict[str, Any]:
            self.heard.append(ctx.params)
            return result

        self.server.add_request_handler(method, Open, answered)


async def called(desk: Desk, **client: Any) -> str:
    async with guarded(wrapped=desk.server, **client) as guest:
        return text(await guest.call_tool("get_it", {}))


def test_a_server_can_ask_for_a_sample_for_roots_and_for_the_user() -> None:
    async def work(ctx: Any) -> str:
        block = types.TextContent(type="text", text="2 + 2?")
        message = types.SamplingMessage(role="user", content=block)
        sample = await ctx.session.create_message([message], max_tokens=9)
        roots = await ctx.session.list_roots()
        asked = await ctx.session.elicit("Sure?", {"type": "object", "properties": {}})
        await ctx.session.send_ping()
        return f"{sample.content.text} {roots.roots[0].uri} {asked.action}"

    async def sampled(ctx: Any, params: Any) -> types.CreateMessageResult:
        assert params.messages[0].content.text == "2 + 2?" and params.max_tokens == 9
        block = types.TextContent(type="text", text="4")
        return types.CreateMessageResult(role="assistant", content=block, model="m")

    async def rooted(ctx: Any) -> types.ListRootsResult:
        return types.ListRootsResult.model_validate({"roots": [{"uri": "file:///home"}]})

    async def asked(ctx: Any, params: Any) -> types.ElicitResult:
        assert params.message == "Sure?"
        return types.ElicitResult(action="accept", content={})

    said = called(
        Desk(work),
        sampling_callback=sampled,
        list_roots_callback=rooted,
        elicitation_callback=asked,
    )
    assert asyncio.run(said) == "4 file:///home accept"


def test_a_client_that_cannot_do_it_says_so_to_the_server() -> None:
    async def work(ctx: Any) -> str:
        try:
            await ctx.session.list_roots()
        except MCPError as error:
            return f"{error.code} {error.message}"
        raise AssertionError

    assert asyncio.run(called(Desk(work))) == "-32600 List roots not supported"


@BOTH
def test_progress_reaches_the_request_that_it_is_about(mode: str) -> None:
    seen: list[tuple[str, float]] = []

    async def scene() -> None:
        async with guarded(wrapped=office(), mode=mode) as client:

            async def count(name: str) -> None:
                async def told(progress: float, total: float | None, message: str | None) -> None:
                    seen.append((name, progress))
                    assert total == 3 and message == "counting"

                await client.call_tool("count_slowly", {}, progress_callback=told)

            await asyncio.gather(count("a"), count("b"))

    asyncio.run(scene())
    assert sorted(seen) == [(name, float(done)) for name in "ab" for done in (1, 2, 3)]


def test_what_a_server_logs_reaches_the_client() -> None:
    logged: list[Any] = []

    async def work(ctx: Any) -> str:
        await ctx.session.send_log_message("info", {"n": 1}, "desk")
        return "done"

    async def heard(params: Any) -> None:
        logged.append((params.level, params.data, params.logger))

    assert asyncio.run(called(Desk(work), logging_callback=heard)) == "done"
    assert logged == [("info", {"n": 1}, "desk")]


@BOTH
def test_a_cancelled_call_is_cancelled_at_the_server(mode: str) -> None:
    done: list[str] = []

    async def scene() -> None:
        async with guarded(wrapped=office(done=done), mode=mode) as client:
            waiting = asyncio.create_task(client.call_tool("wait", {}))
            await until(lambda: "waiting" in done)
            waiting.cancel()
            await until(lambda: "stopped waiting" in done)
            assert text(await client.call_tool("get_report", {})) == "All is well."

    asyncio.run(scene())


def test_requests_and_notifications_pass_with_all_that_they_say() -> None:
    async def work(ctx: Any) -> str:
        return "done"

    desk = Desk(work)
    desk.answer("completion/complete", {"completion": {"values": ["a"]}, "more": 1})
    desk.answer("desk/tidy", {"tidy": [None, 1.5, {"x": "y"}], "_meta": {"m": 1}})
    desk.answer("resources/subscribe", {})
    desk.listen("notifications/roots/list_changed")
    desk.listen("notifications/desk/knock")

    async def scene() -> None:
        async with guarded(wrapped=desk.server) as client:
            reference = types.PromptReference(type="ref/prompt", name="p")
            found = await client.complete(reference, {"name": "a", "value": "b"})
            assert found.completion.values == ["a"]
            await client.subscribe_resource("desk://drawer")
            await client.send_ping()
            params = {"_meta": {"k": [1]}, "how": "well"}
            asked = types.Request[dict[str, Any], str](method="desk/tidy", params=params)
            answer = await client.session.send_request(asked, Open)
            assert answer.model_dump() == {"tidy": [None, 1.5, {"x": "y"}], "_meta": {"m": 1}}
            unknown: types.Request[Any, Any] = types.Request(method="desk/none", params=None)
            with pytest.raises(MCPError) as raised:
                await client.session.send_request(unknown, Open)
            assert raised.value.code == types.METHOD_NOT_FOUND
            await client.send_roots_list_changed()
            knock: Any = types.Notification[dict[str, Any], str](
                method="notifications/desk/knock", params={"n": 3}
            )
            await client.session.send_notification(knock)
            await until(lambda: len(desk.heard) == 5)

    asyncio.run(scene())
    complete, subscribed, tidy = desk.heard[:3]
    assert complete["argument"] == {"name": "a", "value": "b"}
    assert subscribed["uri"] == "desk://drawer"
    assert tidy == {"_meta": {"k": [1]}, "how": "well"}
    assert {"n": 3} in desk.heard[3:]


@BOTH
def test_metadata_of_a_call_reaches_the_server(mode: str) -> None:
    seen: list[Any] = []

    async def work(ctx: Any) -> str:
        seen.append(ctx.params)
        return "done"

    async def scene() -> None:
        async with guarded(wrapped=Desk(work).server, mode=mode) as client:
            meta: Any = {"trace": "t1"}
            await client.call_tool("get_it", {"n": 1}, meta=meta)

    asyncio.run(scene())
    (params,) = seen
    assert params["arguments"] == {"n": 1} and params["_meta"]["trace"] == "t1"
    assert SESSION_META not in params["_meta"]


def test_a_stream_of_notifications_keeps_its_name() -> None:
    server = office()

    async def scene() -> None:
        async with (
            guarded(wrapped=server, mode="auto") as client,
            client.listen(tools_list_changed=True) as events,
        ):
            assert isinstance(client, Client)
            await server._subscriptions.publish(ToolsListChanged())
            async for event in events:
                assert event == ToolsListChanged()
                break

    asyncio.run(scene())
