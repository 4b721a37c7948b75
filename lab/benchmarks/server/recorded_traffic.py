"""Sends recorded conversations to our server and times each check of a call.

`request_rows` measures each kind of request alone. Here they have the mix of real agents: most
calls read, some have side effects.
"""

import asyncio
import json
from collections.abc import Sequence
from itertools import islice
from urllib.request import Request, urlopen

import uvloop
from load_clients import ClientRequest, Clients
from request_rows import Figures, percentiles
from server_processes import Running

from taskshield.adapters.conversations.native import render
from taskshield.adapters.traces.agentdojo_runs import RecordedRun
from taskshield.core.levels import Level
from taskshield.core.messages import Conversation, Message, text_message
from taskshield_lab.bench.scripts.recorded_tools import tools_of

WARM = 3
"""Warm-up conversations."""


def recorded_row(running: Running, runs: Sequence[RecordedRun], conversations: int) -> Figures:
    """Measure one client that sends recorded conversations, message by message.

    Args:
        running: Our server.
        runs: Recorded runs.
        conversations: How many of them to send, evenly chosen.
    """
    apart = max(1, len(runs) // (conversations + WARM))
    chosen = list(islice(runs[::apart], conversations + WARM))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        taken = [runner.run(_send_run(running, run)) for run in chosen]
    times = [ms for some in taken[WARM:] for ms in some]
    return {"conversations": len(chosen) - WARM, "calls": len(times), "ms": percentiles(times)}


async def _send_run(running: Running, run: RecordedRun) -> list[float]:
    """Milliseconds of each message with calls."""
    path = f"/api/sessions/{_open_session(running, run)}/messages"
    system = [] if not run.system else [text_message(Level.SYSTEM, run.system)]
    messages = [*system, *run.messages]
    requests = [ClientRequest(path=path, body=_body(message)) for message in messages]
    async with Clients(running.port, 1) as client:
        load = await client.send(requests)
    answered = zip(messages, load.answers, strict=True)
    return [answer.whole_ms for message, answer in answered if message.tool_calls]


def _open_session(running: Running, run: RecordedRun) -> str:
    conversation = Conversation(messages=(), tools=tools_of(run))
    body = json.dumps({"tools": render(conversation)["tools"]}).encode()
    headers = {"content-type": "application/json"}
    with urlopen(Request(f"{running.url}/api/sessions", body, headers), timeout=30) as answer:
        session: str = json.load(answer)["id"]
        return session


def _body(message: Message) -> bytes:
    rendered = render(Conversation(messages=(message,)))
    return json.dumps({"messages": rendered["messages"]}).encode()
