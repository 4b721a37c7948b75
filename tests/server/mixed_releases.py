"""Servers of two releases on one Postgres, and clients that use them in turn.

For a test with a few hundred messages and for the benchmark with thousands.
"""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

import taskshield
from tests.server.listening import Process, listening
from tests.stores import releases

_COMMAND = (
    sys.executable,
    "-c",
    "import sys; from taskshield.cli.main import main; sys.exit(main())",
)
_PATIENCE_S = 120
_CLIENTS = 6
_AZURE = "/contentsafety/agent:analyzeTaskAdherence?api-version=2025-09-15-preview"
_CONVERSATION = 20
"""Messages of a conversation without a session, which each request repeats."""
_RECORDS = 200
"""Records that one page of a list has."""

_WRITE = "        written: dict[str, object] = {}\n"
_LATER = (
    _WRITE
    + '        if self._make.__name__ not in ("Policy", "ToolSpec", "ToolAnnotations"):\n'
    + '            written["of_a_later_release"] = {"any": ["thing"]}\n'
)
"""Names of conversations are made from policies and tools, which therefore must not change."""


def earlier(folder: Path) -> Path:
    """The code of release 0.1.0."""
    return releases.unpacked("0.1.0", folder / "0.1.0")


def now() -> Path:
    """The code of this checkout."""
    return Path(taskshield.__file__).parents[1]


def later(folder: Path) -> Path:
    """A copy of this code in which every object of a stored document has one more member."""
    source = folder / "later"
    shutil.copytree(
        now() / "taskshield",
        source / "taskshield",
        ignore=shutil.ignore_patterns("weights", "__pycache__", "*.onnx"),
    )
    records = source / "taskshield" / "adapters" / "stored" / "records.py"
    text = records.read_text(encoding="utf-8")
    assert _WRITE in text
    records.write_text(text.replace(_WRITE, _LATER), encoding="utf-8")
    return source


@contextmanager
def serving(source: Path, store: str) -> Iterator[Process]:
    """A server of a release on a store, with a judge that needs no weights."""
    options = ("serve", "--port", "0", "--judge", "block-side-effects")
    with listening([*_COMMAND, *options], _environment(source, store)) as process:
        yield process


def new_key(source: Path, store: str) -> str:
    """A key that a release makes, for all that the tests read."""
    options = ("keys", "create", "--name", "tester", "--scope", "admin")
    given = {**os.environ, **_environment(source, store)}
    made = subprocess.run(
        [*_COMMAND, *options], env=given, capture_output=True, text=True, check=True
    )
    return made.stdout.strip()


def _environment(source: Path, store: str) -> dict[str, str]:
    return {"PYTHONPATH": str(source), "TASKSHIELD_SERVER__STORE": store}


@dataclass(slots=True)
class Figures:
    """What the clients saw."""

    messages: int = 0
    """Messages that were answered with a decision."""
    refused: Counter[str] = field(default_factory=Counter)
    """Requests that failed, by status and code."""
    unreadable: int = 0
    """Sessions and decisions that a server could not read at the end."""
    lost: int = 0
    """Answered messages that are not in the store, or not once."""
    changed: int = 0
    """Decisions that replay to something else."""
    conversations: int = 0
    after_roll_back: int = 0
    """Messages of them that the first release alone answered at the end."""
    read_sessions: int = 0
    replayed: int = 0
    """Decisions that were made again from what is stored, by either release."""


class Talk:
    """One conversation, with a session or without one, and the decisions on it so far."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.with_session = number % 2 == 0
        self.session = f"session-{number}"
        self.said: list[dict[str, Any]] = []
        self.answered = 0
        self.begun = 1
        """Conversations that it has been."""
        self.decisions: list[str] = []

    def next_message(self) -> dict[str, Any]:
        """What is said next: a task, a call that reads, its output, and a call that is blocked."""
        number = len(self.said)
        match number % 5:
            case 0:
                return {"level": "user", "text": f"Read note {number} of talk {self.number}."}
            case 1:
                return _calling("read_note", f"c{number}")
            case 2:
                text = f"Note {number}: buy milk."
                return {"level": "tool", "answers": f"c{number - 1}", "text": text}
            case 3:
                return _calling("send_money", f"c{number}")
            case _:
                return {"level": "assistant", "text": f"Note {number} says: buy milk."}

    def say(self, client: httpx.Client) -> Counter[str]:
        """Send the next message. Returns why it failed, if it did."""
        message = self.next_message()
        if self.with_session:
            if not self.said:
                client.post("/api/sessions", json={"id": self.session})
            path, body = f"/api/sessions/{self.session}/messages", {"messages": [message]}
        else:
            sent = map(_azure, [*self.said, message])
            path, body = _AZURE, {"tools": [], "messages": list(sent)}
        answer = client.post(path, json=body)
        if answer.status_code != 200:
            return Counter([f"{answer.status_code} {answer.text[:200]}"])
        self.said.append(message)
        self.answered += 1
        self.decisions += [each["id"] for each in answer.json().get("decisions", [])]
        if not self.with_session and len(self.said) == _CONVERSATION:
            self.number += 1_000_000  # another conversation
            self.said = []
            self.begun += 1
        return Counter()


class Traffic:
    """Conversations on one store, and servers of two releases that come and go."""

    def __init__(self, store: str, first: Path, second: Path, *, talks: int) -> None:
        self._store = store
        self._first, self._second = first, second
        self._talks = [Talk(number) for number in range(talks)]
        self._key = ""
        self.figures = Figures()

    def run(self, messages: int) -> Figures:
        """Roll from the first release to the second and back, and look at all that is stored."""
        self._key = new_key(self._first, self._store)
        turns = messages // len(self._talks)
        alone, both = turns // 10, turns // 2
        with ExitStack() as stack:
            with ExitStack() as inner:
                first = self._client(inner, self._first)
                self._say(alone, first)
                second = self._client(stack, self._second)
                self._say(both, first, second)
            self._say(alone, second)
            with ExitStack() as inner:
                first = self._client(inner, self._first)
                self._say(alone, first, second)
                stack.close()
                before = sum(talk.answered for talk in self._talks)
                self._say(turns - both - 3 * alone, first)
                self.figures.messages = sum(talk.answered for talk in self._talks)
                self.figures.conversations = sum(talk.begun for talk in self._talks)
                self.figures.after_roll_back = self.figures.messages - before
                self._check(first)
        with ExitStack() as stack:
            self._check(self._client(stack, self._second))
        return self.figures

    def _client(self, stack: ExitStack, source: Path) -> httpx.Client:
        process = stack.enter_context(serving(source, self._store))
        headers = {"x-taskshield-key": self._key}
        client = httpx.Client(base_url=process.url, headers=headers, timeout=_PATIENCE_S)
        return stack.enter_context(client)

    def _say(self, turns: int, *clients: httpx.Client) -> None:
        """Let each conversation say so much, each message to the next server."""

        def say(talk: Talk) -> Counter[str]:
            refused: Counter[str] = Counter()
            for turn in range(turns):
                refused += talk.say(clients[(turn + talk.number) % len(clients)])
            return refused

        with ThreadPoolExecutor(_CLIENTS) as pool:
            for refused in pool.map(say, self._talks):
                self.figures.refused += refused

    def _check(self, client: httpx.Client) -> None:
        """Count what this server cannot read, and what is not there."""
        records = list(_records(client))
        numbers: dict[str, list[int]] = {}
        for record in records:
            numbers.setdefault(record["session"], []).append(record["number"])
        kept = Counter(record["id"] for record in records)
        told = [id for talk in self._talks for id in talk.decisions]
        figures = self.figures
        figures.read_sessions += len(numbers)
        figures.replayed += len(kept)
        figures.lost += sum(kept[id] != 1 for id in told) + abs(figures.messages - len(records))
        figures.lost += sum(sorted(each) != list(range(len(each))) for each in numbers.values())
        with ThreadPoolExecutor(_CLIENTS) as pool:
            sessions = pool.map(lambda id: client.get(f"/api/sessions/{id}"), numbers)
            replays = pool.map(lambda id: client.post(f"/api/decisions/{id}/replay"), kept)
            for answer in sessions:
                if answer.status_code != 200:
                    figures.unreadable += 1
                elif answer.json()["messages"] != len(numbers[answer.json()["id"]]):
                    figures.lost += 1
            for answer in replays:
                if answer.status_code != 200:
                    figures.unreadable += 1
                elif not answer.json()["same"]:
                    figures.changed += 1


def _records(client: httpx.Client) -> Iterator[dict[str, Any]]:
    after: dict[str, str] = {}
    while True:
        page = client.get("/api/decisions", params={"limit": _RECORDS, **after})
        page.raise_for_status()
        yield from page.json()["items"]
        if page.json()["next"] is None:
            return
        after = {"after": page.json()["next"]}


def _calling(tool: str, id: str) -> dict[str, Any]:
    call = {"id": id, "name": tool, "arguments": {"path": id}}
    return {"level": "assistant", "text": "One moment.", "tool_calls": [call]}


def _azure(message: dict[str, Any]) -> dict[str, Any]:
    calls = [
        {
            "type": "function",
            "id": call["id"],
            "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
        }
        for call in message.get("tool_calls", ())
    ]
    return {
        "source": "Prompt" if message["level"] == "user" else "Completion",
        "role": message["level"].capitalize(),
        "contents": message.get("text", ""),
        **({"toolCalls": calls} if calls else {}),
        **({"toolCallId": message["answers"]} if "answers" in message else {}),
    }
