import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic.types
import openai.types.chat
import pytest
from pydantic import ConfigDict, TypeAdapter

from taskshield.adapters.conversations import anthropic_messages, detect, native, openai_chat

GOLDEN = Path(__file__).parent / "golden"
OPENAI = ("email", "legacy")
ANTHROPIC = ("email", "research")


def golden(name: str, form: str) -> Any:
    return json.loads((GOLDEN / f"{name}.{form}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", OPENAI)
def test_openai_chat_reads_as_expected(name: str) -> None:
    conversation = openai_chat.parse(golden(name, "openai-chat"))
    assert native.render(conversation) == golden(name, "taskshield")


@pytest.mark.parametrize("name", ANTHROPIC)
def test_anthropic_messages_read_as_expected(name: str) -> None:
    conversation = anthropic_messages.parse(golden(name, "anthropic-messages"))
    assert native.render(conversation) == golden(name, "taskshield")


@pytest.mark.parametrize("path", sorted(GOLDEN.iterdir()), ids=lambda path: path.stem)
def test_the_format_of_every_golden_file_is_detected(path: Path) -> None:
    name, form = path.stem.split(".")
    found = detect.parse(json.loads(path.read_text(encoding="utf-8")))
    assert found.format == form
    assert found.conversation == native.parse(golden(name, "taskshield"))


@pytest.mark.parametrize("name", OPENAI)
def test_openai_fixtures_are_what_the_sdk_sends(name: str) -> None:
    messages = golden(name, "openai-chat")["messages"]
    assert as_typed(list[openai.types.chat.ChatCompletionMessageParam], messages) == messages


def test_anthropic_fixture_is_what_the_sdk_sends() -> None:
    messages = golden("email", "anthropic-messages")["messages"]
    assert as_typed(list[anthropic.types.MessageParam], messages) == messages


def as_typed(kind: Any, messages: object) -> object:
    """The messages after the SDK's own types have seen every part of them."""
    sdk = TypeAdapter[Any](kind, config=ConfigDict(extra="forbid"))
    return whole(sdk.validate_python(messages))


def whole(value: object) -> object:
    """Pydantic checks what is typed as an iterable only while it is read."""
    if isinstance(value, dict):
        return {key: whole(item) for key, item in value.items()}
    if isinstance(value, list | Iterator):
        return [whole(item) for item in value]
    return value
