import pytest

from taskshield.adapters.conversations import detect
from taskshield.core.errors import WireFormatError
from taskshield.core.levels import Level
from taskshield.core.messages import Conversation, text_message

HELLO = {"role": "user", "content": "hello"}


def block(kind: str, role: str = "user") -> dict[str, object]:
    return {"role": role, "content": [{"type": kind}]}


@pytest.mark.parametrize(
    "payload",
    [
        {"system": "Be kind.", "messages": [HELLO]},
        {"messages": [HELLO], "tools": [{"name": "f", "input_schema": {}}]},
        [HELLO, block("tool_use", "assistant")],
        [HELLO, block("server_tool_use", "assistant")],
        [HELLO, block("tool_result")],
        [HELLO, block("web_search_tool_result", "assistant")],
        {"messages": [block("thinking", "assistant")]},
    ],
)
def test_signs_of_anthropic_messages(payload: object) -> None:
    assert detect.detect(payload) == "anthropic-messages"


@pytest.mark.parametrize(
    "payload",
    [
        [HELLO],
        {"messages": [HELLO, {"role": "assistant", "content": "hi"}]},
        {"messages": [HELLO], "tools": [{"type": "function", "function": {"name": "f"}}]},
        [HELLO, block("text")],
        [],
    ],
)
def test_anything_without_a_sign_is_openai_chat(payload: object) -> None:
    assert detect.detect(payload) == "openai-chat"


def test_what_a_tool_returned_cannot_change_the_format() -> None:
    assert detect.parse([HELLO, block("tool_use", "tool")]).format == "openai-chat"


def test_our_own_key_wins() -> None:
    payload = {"taskshield": 1, "messages": [{"level": "user", "text": "hello"}]}
    assert detect.parse(payload) == detect.Detected(
        format="taskshield",
        conversation=Conversation(messages=(text_message(Level.USER, "hello"),)),
    )


@pytest.mark.parametrize("payload", [None, 3, "hello", {}, {"system": "x"}, ["hello"], [[HELLO]]])
def test_anything_else_is_refused(payload: object) -> None:
    with pytest.raises(WireFormatError):
        detect.parse(payload)
