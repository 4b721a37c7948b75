import io
import json
import sys
from pathlib import Path

import pytest

from taskshield.cli.check.conversation_file import read
from taskshield.core.errors import WireFormatError
from tests.cli.stage import CLEAN, HIJACKED

NATIVE = {"taskshield": 1, "messages": [{"level": "user", "text": "hello"}]}


def given(folder: Path, content: str | bytes) -> str:
    path = folder / "chat.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def failure(name: str) -> str:
    with pytest.raises(WireFormatError) as caught:
        read(name)
    message = str(caught.value)
    assert message.startswith(f"{name}: ")
    return message.removeprefix(f"{name}: ")


def test_every_format_is_recognised(tmp_path: Path) -> None:
    assert read(str(HIJACKED)).format == "openai-chat"
    assert read(str(CLEAN)).format == "anthropic-messages"
    assert read(given(tmp_path, json.dumps(NATIVE))).format == "taskshield"


def test_a_byte_order_mark_is_no_obstacle(tmp_path: Path) -> None:
    content = json.dumps(NATIVE).encode("utf-8-sig")
    assert len(read(given(tmp_path, content)).conversation.messages) == 1


def test_a_dash_is_the_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(json.dumps(NATIVE).encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert read("-").format == "taskshield"


def test_a_closed_standard_input_is_an_empty_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert failure("-").startswith("The file is not JSON")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert failure(str(tmp_path / "none.json")) == "No such file or directory."


def test_a_folder_is_no_conversation(tmp_path: Path) -> None:
    assert failure(str(tmp_path)) == "Is a directory."


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'["\xff"]', "The file is not UTF-8 text (byte 2)."),
        ("", "The file is not JSON (line 1, column 1: Expecting value)."),
        ('{"messages":\n ]', "The file is not JSON (line 2, column 2: Expecting value)."),
        ("[" * 100_000, "The JSON is nested too deeply, or a number in it is too long."),
        ("9" * 5_000, "The JSON is nested too deeply, or a number in it is too long."),
        ("42", "conversation: an object or a list of messages is needed, found a whole number"),
        ('{"messages": 1}', "messages: a list is needed, found a whole number"),
        ("[]", "The conversation has no messages."),
    ],
)
def test_the_error_says_what_is_wrong(tmp_path: Path, content: str | bytes, message: str) -> None:
    assert failure(given(tmp_path, content)) == message
