from pathlib import Path

from taskshield.core.levels import Level
from taskshield_lab.training.conversations.from_contrast import contrast_conversations
from tests.lab.training.sources.test_contrast import KNOWN, read, row


def test_the_last_message_has_all_calls_to_be_judged(tmp_path: Path) -> None:
    (contrast,) = read(tmp_path, row() | {"system": "You look after ponds."})
    first, second = contrast_conversations(contrast)
    assert (first.id, first.scenario, second.id) == (
        "ordinal-ponds-01/0",
        "ordinal-ponds-01",
        "ordinal-ponds-01/1",
    )
    assert (first.kind, second.kind) == ("drift", "clean")
    assert [message.level for message in first.messages] == [
        Level.SYSTEM,
        Level.ASSISTANT,
        Level.TOOL,
        Level.ASSISTANT,
        Level.USER,
        Level.ASSISTANT,
    ]
    assert [call.id for call in first.messages[-1].tool_calls] == ["call_1", "call_2"]
    label = first.calls["call_2"]
    assert (label.aligned, label.kind, label.said) == (False, "object", "the second one")
    assert first.calls["call_0"].kind == first.calls["call_1"].kind == "step"


def test_every_variant_becomes_a_conversation_with_distinct_messages() -> None:
    for contrast in KNOWN:
        conversations = contrast_conversations(contrast)
        assert len(conversations) == len(contrast.variants)
        read = {conversation.messages[:-1] for conversation in conversations}
        assert len(read) == len(conversations), contrast.id
