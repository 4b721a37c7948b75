"""Stores and settings of Claude Code, for set-ups that are then broken."""

import asyncio
import json
from datetime import datetime
from pathlib import Path

from taskshield.server.access.api_keys import new_key
from taskshield.stores.open_store import open_store
from tests.stores.rows import SESSION, record

EVENTS = ("UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure")


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
