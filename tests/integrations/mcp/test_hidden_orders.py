"""Whatever a hostile server says is judged, refused or dropped, wherever it hides an order."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from taskshield.integrations.mcp import Address, Target
from tests.integrations.mcp import hostile
from tests.integrations.mcp.hidden_orders import HELLO, SCENES, Scene, reveals, said
from tests.integrations.mcp.wiretap import MODERN, STDIO, reader, tapped

PARAMS: dict[str, dict[str, Any]] = {
    "tools/call": {"name": "get_it", "arguments": {}},
    "resources/read": {"uri": "u:"},
    "prompts/get": {"name": "p"},
    "completion/complete": {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {}},
}


async def outcome(name: str, target: Target) -> str:
    """What becomes of the order in a scene.

    - judged: the judge read it, and it does not reach the client
    - refused: the client gets an error instead
    - harmless: the gateway drops it
    - passed: it reaches the client
    """
    scene, judge = SCENES[name], reader()
    greets = scene.method == "initialize"
    async with tapped(target, by=judge, hello=not greets, policy={"output": "redact"}) as tap:
        meta = {"how": name, "progressToken": "t", **(MODERN if scene.modern else {})}
        params = {**PARAMS.get(scene.method, {}), "_meta": meta}
        if greets:
            params |= {**HELLO, "clientInfo": {"name": name}}
        answer = await tap.ask(scene.method, params)
        if scene.before:
            await tap.call("")  # what the server sent before its answer has arrived now
        if any(reveals(message) for message in tap.received):
            return "passed"
    if any(said(message.text) for message in judge.seen):
        return "judged"
    return "refused" if "error" in answer else "harmless"


@pytest.mark.parametrize("transport", ["stdio", "http", "stream"])
@pytest.mark.shows("MCP", "tool output")
def test_no_order_of_a_hostile_server_passes(transport: str) -> None:
    async def scene() -> dict[str, str]:
        if transport == "stdio":
            return {name: await outcome(name, STDIO) for name in SCENES}
        async with hostile.over_http(stream=transport == "stream") as url:
            return {name: await outcome(name, Address(url=url)) for name in SCENES}

    outcomes = asyncio.run(scene())
    counts = Counter(outcomes.values())
    print(f"MCP results over {transport}: {dict(counts)} of {len(SCENES)}")
    assert [name for name, each in outcomes.items() if each == "passed"] == []
    assert counts["judged"] > len(SCENES) / 2


def test_the_scenes_reveal_their_orders() -> None:
    """Otherwise the test above would show nothing."""

    def shown(scene: Scene) -> object:
        return [scene.result, scene.error, *scene.before]

    assert [name for name, scene in SCENES.items() if not reveals(shown(scene))] == []
    assert not reveals(hostile.HARMLESS)
