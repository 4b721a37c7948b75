"""Measures appended messages in a process of its own; `append_cost.py` starts it for each release.

Uses only what release 0.1.0 has, too. Prints one line of JSON.
"""

import asyncio
import json
import sys
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter
from typing import Any

from taskshield.core.levels import Level
from taskshield.core.messages import Conversation, Message, Text, ToolCall
from taskshield.core.policy import Policy
from taskshield.core.store import Store
from taskshield.server.sessions.audit_records import TextRedaction
from taskshield.server.sessions.checker import SessionChecker
from taskshield.server.sessions.snapshots import RequestSource
from taskshield.settings import load
from taskshield.stores.open_store import open_store
from taskshield.wiring import build_judge

TENANT, SESSION = "default", "measured"
SOURCE = RequestSource("benchmark")
APPENDED = 50
READ = 3
GROWTH = 10
"""Messages of a request while the conversation is made."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def mail(number: int) -> str:
    """A text of 60 words that no other mail has, so that it cannot be compressed away."""
    chance = Random(number)
    words = ("".join(chance.choices(LETTERS, k=chance.randint(2, 9))) for _ in range(60))
    return f"From: Ada Quist\nSubject: Mail {number}\n\n{' '.join(words)}."


def messages(count: int) -> list[Message]:
    """A conversation in which the user asks for something in every fifth message."""
    said: list[Message] = []
    for number in range(count):
        match number % 5:
            case 0:
                text = f"Please read mail {number} and write down in a line what it says."
                said.append(Message(level=Level.USER, parts=(Text(text=text),)))
            case 1 | 3:
                name = "read_mail" if number % 5 == 1 else "write_note"
                call = ToolCall(id=f"c{number}", name=name, arguments=f'{{"number": {number}}}')
                said.append(Message(level=Level.ASSISTANT, tool_calls=(call,)))
            case _:
                parts = (Text(text=mail(number)),)
                said.append(Message(level=Level.TOOL, parts=parts, answers=f"c{number - 1}"))
    return said


class Written:
    """Counts what is given to a store, and the time from a decision until it is stored."""

    def __init__(self, store: Store, server: SessionChecker) -> None:
        self.session = self.cases = 0
        self.seconds: list[float] = []
        self._commit = store.commit
        self._write = server._snapshots.write
        store.commit = self._counted  # type: ignore[method-assign]
        server._snapshots.write = self._timed  # type: ignore[method-assign]

    async def _counted(self, session: Any, records: Any, *more: Any, **others: Any) -> None:
        texts = [session.state, *(part.text for part in getattr(session, "parts", ()))]
        self.session += sum(len(text) for text in texts)
        self.cases += sum(len(record.case) for record in records)
        await self._commit(session, records, *more, **others)

    async def _timed(self, snapshot: Any, change: Any) -> Any:
        began = perf_counter()
        written = await self._write(snapshot, change)
        self.seconds.append(perf_counter() - began)
        return written


def of_process() -> int:
    """Bytes that this process has written to any file."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("wchar")).split()[1])


async def on_disk(url: str) -> int:
    """Bytes that were written: by this process to its file, or to the log of a Postgres server."""
    if url.startswith("sqlite"):
        return of_process()
    import asyncpg

    connection = await asyncpg.connect(url)
    try:
        found = await connection.fetchval("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")
    finally:
        await connection.close()
    return int(found)


def checker(store: Store) -> SessionChecker:
    """A server's checker, with nothing in its memory."""
    judge = build_judge(load({"judge": "block-side-effects"}, environment={}))
    return SessionChecker(judge=judge, policy=Policy(), store=store, redaction=TextRedaction())


async def send(server: SessionChecker, way: str, said: list[Message], known: int) -> None:
    """Send the messages that come after those that are known."""
    if way == "session":
        new = said[known:]
        await server.check(TENANT, SESSION, new, source=SOURCE, start=True)
    else:
        told = Conversation(messages=tuple(said), tools=())
        await server.check_conversation(TENANT, told, source=SOURCE)


async def measured(url: str, way: str, count: int) -> dict[str, object]:
    """Figures of appending to a conversation of so many messages."""
    said = messages(count + APPENDED + READ)
    store = await open_store(url)
    try:
        server = checker(store)
        written = Written(store, server)
        for end in range(GROWTH, count + 1, GROWTH):
            await send(server, way, said[:end], end - GROWTH)
        written.session = written.cases = 0
        written.seconds.clear()
        before = await on_disk(url)
        times = []
        for end in range(count + 1, count + APPENDED + 1):
            began = perf_counter()
            await send(server, way, said[:end], end - 1)
            times.append(perf_counter() - began)
        bytes_on_disk = await on_disk(url) - before
        texts, cases, stored = written.session, written.cases, median(written.seconds)
        cold = []
        for end in range(count + APPENDED + 1, count + APPENDED + READ + 1):
            other = checker(store)
            began = perf_counter()
            await send(other, way, said[:end], end - 1)
            cold.append(perf_counter() - began)
    finally:
        await store.aclose()
    return {
        "messages": count,
        "ms": round(1000 * median(times), 1),
        "storing_ms": round(1000 * stored, 1),
        "uncached_ms": round(1000 * median(cold), 1),
        "session_bytes": round(texts / APPENDED),
        "case_bytes": round(cases / APPENDED),
        "written_bytes": round(bytes_on_disk / APPENDED),
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measured(sys.argv[1], sys.argv[2], int(sys.argv[3])))))
