"""Recorded AgentDojo runs as conversations.

The runs are those that AgentDojo's authors publish: one JSON object for each run, in a file of its
own or one a line. They are read from wherever they lie; none is kept in this repository.
"""

import json
import lzma
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from taskshield import Level, Message, ToolCall
from taskshield.core.messages import text_message

NO_ATTACK = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One conversation."""

    system: str
    messages: tuple[Message, ...]
    """All but the system message, in order."""
    failed: bool = False
    """Whether the run ended with an error, so that its transcript means little."""


def files_of(path: Path) -> list[Path]:
    """The files with runs at this path, which is one of them or a folder."""
    if not path.is_dir():
        return [path]
    return sorted(each for each in path.rglob("*") if each.name.endswith(_ENDINGS))


def read(
    path: Path, *, attacks: frozenset[str] = frozenset(), limit: int | None = None
) -> Iterator[Run]:
    """The runs at this path.

    Args:
        path: A `.jsonl`, `.jsonl.xz` or `.json` file, or a folder with such files in it.
        attacks: Only runs with one of these attacks; all where none is named.
        limit: At most so many.
    """
    records = (record for file in files_of(path) for record in _records(file))
    wanted = (record for record in records if not attacks or _attack(record) in attacks)
    return map(_run, islice(wanted, limit))


_ENDINGS = (".json", ".jsonl", ".jsonl.xz")


def _records(path: Path) -> Iterator[Mapping[str, Any]]:
    if path.suffix == ".json":
        yield json.loads(path.read_text(encoding="utf-8"))
        return
    opened = lzma.open if path.suffix == ".xz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def _attack(record: Mapping[str, Any]) -> str:
    return NO_ATTACK if record["attack_type"] is None else str(record["attack_type"])


def _run(record: Mapping[str, Any]) -> Run:
    messages = record["messages"]
    system = [_text(message) for message in messages if message["role"] == "system"]
    others = [message for message in messages if message["role"] != "system"]
    return Run(
        system="\n\n".join(system),
        messages=tuple(_messages(others)),
        failed=record["error"] is not None,
    )


def _messages(messages: Iterable[Mapping[str, Any]]) -> Iterator[Message]:
    """The messages; calls whose id is missing or was used before get one of our own."""
    waiting: dict[str | None, deque[str]] = {}
    for number, message in enumerate(messages):
        level = Level(message["role"])
        parts = text_message(level, _text(message)).parts
        if level is Level.TOOL:
            open_calls = waiting.get(message.get("tool_call_id"))
            answers = open_calls.popleft() if open_calls else None
            yield Message(level=level, parts=parts, answers=answers)
            continue
        calls = []
        for position, call in enumerate(message.get("tool_calls") or ()):
            given = call.get("id")
            id = given if given and given not in waiting else f"call-{number}-{position}"
            waiting.setdefault(given, deque()).append(id)
            arguments = json.dumps(call["args"], ensure_ascii=False)
            calls.append(ToolCall(id=id, name=call["function"], arguments=arguments))
        yield Message(level=level, parts=parts, tool_calls=tuple(calls))


def _text(message: Mapping[str, Any]) -> str:
    content = message["content"]
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "\n".join(str(part["content"]) for part in content)
