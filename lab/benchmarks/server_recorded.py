"""Recorded conversations through our server, every check of a call on the clock.

The rows of `server_rows` tell kinds of requests apart. Here they come as often as in the
conversations of real agents: most calls look something up, some act.
"""

import asyncio
import json
from collections.abc import Sequence
from itertools import islice
from urllib.request import Request, urlopen

import uvloop
from recorded_tools import tools_of
from server_load import Ask, Clients
from server_processes import Running
from server_rows import Figures, percentiles

from taskshield.adapters.conversations.native import render
from taskshield.adapters.traces.agentdojo_runs import RecordedRun
from taskshield.core.levels import Level
from taskshield.core.messages import Conversation, Message, text_message

WARM = 3
"""Conversations that go before those that are measured."""


def recorded_row(running: Running, runs: Sequence[RecordedRun], conversations: int) -> Figures:
    """Measure one client that acts recorded conversations out, message by message.

    Args:
        running: Our server.
        runs: Recorded runs.
        conversations: How many of them, spread over all.
    """
    apart = max(1, len(runs) // (conversations + WARM))
    chosen = list(islice(runs[::apart], conversations + WARM))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        taken = [runner.run(_acted_out(running, run)) for run in chosen]
    times = [ms for some in taken[WARM:] for ms in some]
    return {"conversations": len(chosen) - WARM, "calls": len(times), "ms": percentiles(times)}


async def _acted_out(running: Running, run: RecordedRun) -> list[float]:
    """Milliseconds of each message with calls."""
    path = f"/api/sessions/{_begun(running, run)}/messages"
    system = [] if not run.system else [text_message(Level.SYSTEM, run.system)]
    messages = [*system, *run.messages]
    asks = [Ask(path=path, body=_body(message)) for message in messages]
    async with Clients(running.port, 1) as client:
        load = await client.send(asks)
    answered = zip(messages, load.answers, strict=True)
    return [answer.whole_ms for message, answer in answered if message.tool_calls]


def _begun(running: Running, run: RecordedRun) -> str:
    conversation = Conversation(messages=(), tools=tools_of(run))
    body = json.dumps({"tools": render(conversation)["tools"]}).encode()
    headers = {"content-type": "application/json"}
    with urlopen(Request(f"{running.url}/api/sessions", body, headers), timeout=30) as answer:
        session: str = json.load(answer)["id"]
        return session


def _body(message: Message) -> bytes:
    told = render(Conversation(messages=(message,)))
    return json.dumps({"messages": told["messages"]}).encode()
