"""Whatever a server answers, the client gets an answer, and the gateway goes on.

`MCP_FUZZ=2000` tries more than the default of 12 connections with 20 answers each.
"""

import asyncio
import json
import logging
import os
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from tests.integrations.mcp.hidden_orders import SCENES
from tests.integrations.mcp.wiretap import MODERN, Wiretap, tapped

CONNECTIONS = int(os.environ.get("MCP_FUZZ", "12"))
METHODS: dict[str, dict[str, Any]] = {
    "tools/call": {"name": "get_it", "arguments": {}},
    "tools/list": {},
    "resources/read": {"uri": "u:"},
    "resources/list": {},
    "prompts/get": {"name": "p"},
    "completion/complete": {},
    "server/discover": {},
    "desk/tidy": {},
}
NAMES = st.sampled_from(
    [
        *("_meta", "blob", "content", "contents", "data", "description", "error", "id", "isError"),
        *("inputRequests", "inputSchema", "jsonrpc", "message", "messages", "method", "name"),
        *("nextCursor", "params", "requestState", "resource", "result", "resultType", "role"),
        *("structuredContent", "text", "tools", "type", "uri", "input_required", "complete", ""),
    ]
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | NAMES
    | st.text(max_size=30)
    | st.sampled_from(["ID", "AAAA", "data:image/png;base64,AAAA", "\u2800", "\ud800", "a\x00b"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=15,
)
RESULTS = st.sampled_from([scene.result for scene in SCENES.values()])


@st.composite
def lines(draw: st.DrawFn) -> list[str]:
    """What the server writes after a request: an answer with edits, perhaps among others."""
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": "@"}
    body["result"] = draw(RESULTS | st.dictionaries(NAMES, VALUES, max_size=4) | VALUES)
    if draw(st.integers(0, 3)) == 0:
        body["error"] = draw(VALUES | st.fixed_dictionaries({"code": VALUES, "message": VALUES}))
    for _ in range(draw(st.integers(0, 2))):
        body = _edited(draw, body)
    text = json.dumps(body).replace('"@"', "ID")
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 3]))):
        at = draw(st.integers(0, len(text)))
        text = (
            text[:at] + draw(st.sampled_from(['"', "{", "]", ",", "\\", "x", ""])) + text[at + 1 :]
        )
    return [*draw(st.lists(VALUES.map(json.dumps), max_size=2)), text]


def _edited(draw: st.DrawFn, value: Any) -> Any:
    """The value with a change somewhere in it."""
    if isinstance(value, dict) and value and draw(st.booleans()):
        key = draw(st.sampled_from(sorted(value)))
        return {**value, key: _edited(draw, value[key])}
    if isinstance(value, dict):
        return {**value, draw(NAMES): draw(VALUES)}
    if isinstance(value, list) and value:
        at = draw(st.integers(0, len(value) - 1))
        return [*value[:at], _edited(draw, value[at]), *value[at + 1 :]]
    return draw(VALUES)


REQUESTS = st.tuples(st.sampled_from(sorted(METHODS)), st.booleans(), lines())


class Noted(logging.Handler):
    """Keeps what is logged."""

    def __init__(self, records: list[logging.LogRecord]) -> None:
        super().__init__()
        self._records = records

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        self._records.append(record)


@settings(
    max_examples=CONNECTIONS,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
)
@given(st.lists(REQUESTS, min_size=20, max_size=20))
def test_every_answer_of_a_server_is_an_answer_for_the_client(
    requests: list[tuple[str, bool, list[str]]],
) -> None:
    async def asked(tap: Wiretap, method: str, modern: bool, echo: list[str]) -> None:
        meta = {"echo": echo, **(MODERN if modern else {})}
        answer = await tap.ask(method, {**METHODS[method], "_meta": meta})
        assert ("result" in answer) != ("error" in answer)
        event("an error" if "error" in answer else "a result")
        if "error" in answer:
            assert "Traceback" not in answer["error"]["message"]
            assert "could not answer this" not in answer["error"]["message"], echo

    async def scene() -> None:
        async with tapped() as tap:
            for request in requests:
                await asked(tap, *request)
            assert "result" in await tap.call("")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("taskshield.integrations.mcp.connections.pending._SILENCE_S", 0.3)
        records: list[logging.LogRecord] = []
        noted = Noted(records)
        logging.getLogger().addHandler(noted)
        try:
            asyncio.run(scene())
        finally:
            logging.getLogger().removeHandler(noted)
    assert [record.getMessage() for record in records if record.exc_info] == []
