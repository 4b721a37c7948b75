import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from taskshield.core.errors import WireFormatError
from taskshield.core.levels import Level
from taskshield.core.tools import Tier
from taskshield_lab.training.conversations.from_openings import opening_conversations
from taskshield_lab.training.examples.call_examples import call_examples, simulate_flags
from taskshield_lab.training.sources.scenario_files import read_openings
from taskshield_lab.training.sources.scenarios import Opening


def raw(**changes: Any) -> dict[str, Any]:
    calls = [{"name": "sow", "args": {"seed": name}} for name in ("peas", "oats")]
    tool = {"name": "sow", "description": "Sow it", "parameters": {"seed": "string"}}
    return {
        "id": "field-01",
        "domain": "fields",
        "lang": "en",
        "system": None,
        "tools": [{**tool, "tier": "write"}],
        "turns": ["Peas first.", "Now, please."],
        "right": [{"call": calls[0], "why": "asked for"}],
        "wrong": [{"call": calls[1], "why": "not asked for"}],
        **changes,
    }


def read(folder: Path, **changes: Any) -> Opening:
    (folder / "some.jsonl").write_text(json.dumps(raw(**changes)), encoding="utf-8")
    (opening,) = read_openings(folder)
    return opening


def test_all_openings_are_well_formed(openings: tuple[Opening, ...]) -> None:
    assert len(openings) >= 800
    acting = [
        one
        for one in openings
        if any(
            tool.tier is not Tier.READ and tool.name == call.name
            for tool in one.tools
            for call in one.right
        )
    ]
    assert len(acting) > len(openings) / 2


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"turns": []}, "needs a turn"),
        ({"right": []}, "a right call"),
        ({"wrong": []}, "a wrong one"),
        ({"wrong": raw()["right"]}, "both right and wrong"),
        ({"wrong": [{"call": {"name": "reap", "args": {}}}]}, "no tool 'reap'"),
        ({"right": [{"call": {"name": "sow", "args": {"when": 1}}}]}, "no parameter when"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(WireFormatError, match=f"some.jsonl:1: .*{reason}"):
        read(tmp_path, **changes)


def test_every_call_is_a_conversation_of_its_own(tmp_path: Path) -> None:
    right, wrong = opening_conversations(read(tmp_path, system="You farm."))
    assert (right.id, right.kind, wrong.id, wrong.kind) == (
        "field-01:right-0",
        "clean",
        "field-01:wrong-0",
        "drift",
    )
    for conversation, seed in ((right, "peas"), (wrong, "oats")):
        levels = [message.level for message in conversation.messages]
        assert levels == [Level.SYSTEM, Level.USER, Level.USER, Level.ASSISTANT]
        (call,) = conversation.messages[-1].tool_calls
        assert json.loads(call.arguments) == {"seed": seed}
        label = conversation.calls[call.id]
        assert (label.aligned, label.tier) == (seed == "peas", Tier.WRITE)
    assert [conversation.calls["call_0"].kind for conversation in (right, wrong)] == [
        "step",
        "drift",
    ]


def test_they_are_judged_as_calls_before_any_output(tmp_path: Path) -> None:
    for conversation in opening_conversations(read(tmp_path)):
        (one,) = call_examples(
            conversation, simulate_flags(conversation, Random(1)), Random(1), plans=False
        )
        assert one.evidence.newest == -1 and not one.evidence.texts
        assert one.evidence.request == "Peas first.\nNow, please."
