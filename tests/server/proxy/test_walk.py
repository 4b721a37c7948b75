"""docs/architecture.md lists the files that one proxied tool call passes: here one passes them."""

import re
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import httpx

import taskshield
from taskshield.settings import load
from taskshield.wiring import build_judge
from tests.adapters.proxy.streams import Call, Said
from tests.server.providers.scripted import Provider
from tests.server.proxy.agents import NAMES
from tests.server.proxy.stage import GOOD, TASK, proxied

PACKAGE = Path(taskshield.__file__).parent
DOCUMENT = PACKAGE.parents[1] / "docs" / "architecture.md"
PATH = "/v1/chat/completions"
WRITE = Call("c-2", "write_note", '{"path": "summary.txt", "text": "The total is 98.70."}')


def documented() -> list[list[str]]:
    """The files in the tables of the walk, one list for each table."""
    section = re.split(r"^## ", DOCUMENT.read_text(), flags=re.MULTILINE)
    (walk,) = [text for text in section if text.startswith("The walk of one tool call")]
    tables = walk.split("| file | what it does |")[1:]
    return [re.findall(r"^\| `([\w/]+\.py)` \|", table, re.MULTILINE) for table in tables]


class Recorder:
    """The files of the package in the order in which calls first enter them.

    Begins once more when the check of an answer begins.
    """

    def __init__(self) -> None:
        self.enabled = False
        self.parts: list[dict[str, None]] = [{}, {}]

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if not self.enabled or event != "call" or not code.co_filename.startswith(str(PACKAGE)):
            return
        file = Path(code.co_filename).relative_to(PACKAGE).as_posix()
        part = self.parts[1]
        if not part and code.co_name != "check_response":
            part = self.parts[0]
        part.setdefault(file)


def request(messages: list[dict[str, Any]]) -> dict[str, Any]:
    tools = [{"type": "function", "function": {"name": name}} for name in NAMES]
    return {"model": "m", "messages": messages, "tools": tools, "stream": True}


def test_no_file_stands_twice_in_the_walk() -> None:
    files = [file for part in documented() for file in part]
    assert len(files) == len(set(files)) > 40


def test_a_tool_call_passes_the_files_of_the_walk_in_their_order() -> None:
    recorder = Recorder()
    call = {"name": GOOD.name, "arguments": GOOD.arguments}
    messages: list[dict[str, Any]] = [{"role": "user", "content": TASK}]
    judge = build_judge(load({}, environment={}))
    threading.setprofile(recorder)
    try:
        with (
            Provider(Said("Hm.", [GOOD]), Said("Now.", [WRITE], id="2")) as it,
            proxied(it, by=judge) as proxy,
        ):
            httpx.post(proxy.url + PATH, json=request(messages), timeout=60)
            messages += [
                {
                    "role": "assistant",
                    "content": "Hm.",
                    "tool_calls": [{"id": GOOD.id, "type": "function", "function": call}],
                },
                {"role": "tool", "tool_call_id": GOOD.id, "content": "Total: 98.70"},
            ]
            recorder.enabled = True
            answer = httpx.post(proxy.url + PATH, json=request(messages), timeout=60)
            recorder.enabled = False
    finally:
        threading.setprofile(None)
    assert answer.status_code == 200
    for part, expected in zip(recorder.parts, documented(), strict=True):
        assert [file for file in part if file in expected] == expected
