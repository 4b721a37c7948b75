"""Stores, providers and settings of Claude Code, for set-ups that are then broken."""

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from taskshield.server.access.api_keys import new_key
from taskshield.stores.open_store import open_store
from tests.stores.rows import SESSION, record

EVENTS = ("UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure")

DENIES = "echo '\"deny\"'"
"""A script that answers like a hook that blocks everything."""


def made_store(folder: Path, *, key: bool = False, newest: datetime | None = None) -> Path:
    """A store in a file, with a session and maybe a key and a record."""
    file = folder / "store.db"

    async def make() -> None:
        store = await open_store(f"sqlite:///{file}")
        await store.commit(SESSION, [] if newest is None else [record(at=newest)])
        if key:
            made = new_key(tenant="t", name="n", scopes=["check"], per_minute=None, lifetime=None)
            await store.add_key(made.stored)
        await store.aclose()

    asyncio.run(make())
    return file


def hook_settings(folder: Path, command: str, events: tuple[str, ...] = EVENTS) -> Path:
    """Settings of Claude Code in a home folder or in a project, with this hook for all events."""
    hook = {"hooks": [{"type": "command", "command": command, "timeout": 180}]}
    return write_settings(folder, {event: [hook] for event in events})


def write_settings(folder: Path, hooks: object) -> Path:
    """Settings of Claude Code with these hooks."""
    file = folder / ".claude" / "settings.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"hooks": hooks}))
    return file


@dataclass
class Provider:
    """A program that answers every request alike."""

    url: str
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    """The headers of every request, with names in lower case."""


@contextmanager
def answering(
    status: int = 200, headers: Mapping[str, str] | None = None, body: bytes = b"{}"
) -> Iterator[Provider]:
    """A program that answers with this."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            provider.paths.append(self.path)
            provider.headers.append({name.lower(): text for name, text in self.headers.items()})
            self.send_response_only(status)
            for name, text in {} if headers is None else headers.items():
                self.send_header(name, text)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        provider = Provider(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield provider
        finally:
            server.shutdown()
            thread.join()


def program(folder: Path, script: str) -> Path:
    """A program called taskshield that is not ours."""
    file = folder / "taskshield"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return folder
