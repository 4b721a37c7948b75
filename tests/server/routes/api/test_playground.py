"""The playground: any format, several judges, and nothing is stored."""

from typing import Any

import pytest

from taskshield.adapters.conversations import native
from taskshield.core.errors import ConversationError, JudgeUnavailable
from taskshield.server.dashboard import playground as playgrounds
from taskshield.server.dashboard.playground import Playground, read_conversation
from taskshield.server.routes.api.playground import read_samples
from taskshield.settings import load
from taskshield.stores.memory import MemoryStore
from taskshield.wiring import build_judge
from tests.engine.sessions import run
from tests.judging import TableJudge
from tests.server.dashboard.people import refusal
from tests.server.stage import HIJACKED, keyed, served

HARD = {"delegated", "drift"}
"""Samples that the embedded judge may get wrong; the model card lists both kinds."""
OWN = native.render(HIJACKED)
ARGUMENTS = '{"path": "evil"}'
OPENAI = {
    "messages": [
        {"role": "user", "content": "Read my notes."},
        {
            "role": "assistant",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "send_money", "arguments": ARGUMENTS},
                }
            ],
        },
    ]
}
ANTHROPIC = {
    "system": "Be brief.",
    "messages": [
        {"role": "user", "content": "Read my notes."},
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "c1", "name": "send_money", "input": {"path": "evil"}}
            ],
        },
    ],
}
AZURE = {
    "tools": [
        {"type": "function", "function": {"name": "send_money", "description": "Send money."}}
    ],
    "messages": [
        {"source": "Prompt", "role": "User", "contents": "Read my notes."},
        {
            "source": "Completion",
            "role": "Assistant",
            "contents": "Let me see.",
            "toolCalls": [
                {
                    "type": "function",
                    "id": "c1",
                    "function": {"name": "send_money", "arguments": ARGUMENTS},
                }
            ],
        },
    ],
}


def tried(client: Any, conversation: object, **more: Any) -> dict[str, Any]:
    answer = client.post("/api/playground", json={"conversation": conversation, **more})
    answer.raise_for_status()
    (found,) = answer.json()["runs"]
    return dict(found)


def test_a_conversation_is_judged_and_explained() -> None:
    with served() as client:
        found = tried(client, OWN)
    assert (found["judge"], found["error"]) == ("embedded", None)
    assert [each["action"] for each in found["decisions"]][2:] == ["annotate", "revise", "allow"]
    assert found["texts"] == [message.text for message in HIJACKED.messages]
    assert [task["text"] for task in found["tasks"]] == ["Read my notes and write a summary."]
    assert [[each["origin"] for each in own] for own in found["evidence"]] == [
        [],
        ["user"],
        [],
        ["directive"],
        ["user"],
    ]


def test_nothing_is_stored() -> None:
    store = MemoryStore()
    with served(store) as client:
        tried(client, OWN)
        assert client.get("/api/sessions").json()["items"] == []
        assert client.get("/api/decisions").json()["items"] == []
        assert client.get("/api/approvals").json()["items"] == []
        assert client.get("/api/stats").json()["decisions"] == 0


@pytest.mark.parametrize("conversation", [OPENAI, OPENAI["messages"], ANTHROPIC, AZURE])
def test_any_supported_format_is_read(conversation: Any) -> None:
    with served() as client:
        found = tried(client, conversation)
    last = found["decisions"][-1]
    assert [call["tool"] for call in last["calls"]] == ["send_money"]
    assert last["action"] == "revise"


@pytest.mark.parametrize(
    ("conversation", "message"),
    [
        ({}, "messages"),
        ({"taskshield": 1, "messages": [{"level": "boss"}]}, "level"),
        ({"messages": [{"role": "User", "contents": ""}]}, "messages[0]"),
    ],
)
def test_an_invalid_conversation_is_refused_with_its_path(
    conversation: object, message: str
) -> None:
    with served() as client:
        answer = client.post("/api/playground", json={"conversation": conversation})
    assert refusal(answer) == (400, "invalid_request")
    assert message in answer.json()["error"]["message"]


def test_an_inconsistent_message_is_named_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    async def add(self: object, message: object) -> None:
        raise ConversationError("not now")

    monkeypatch.setattr("taskshield.server.dashboard.playground.AsyncSession.add", add)
    with served() as client:
        answer = client.post("/api/playground", json={"conversation": OWN})
    assert refusal(answer) == (400, "invalid_request")
    assert answer.json()["error"]["message"] == "message 0: not now"


def test_the_number_of_messages_is_limited() -> None:
    with served(limits={"messages": 4}) as client:
        answer = client.post("/api/playground", json={"conversation": OWN})
    assert refusal(answer) == (413, "too_many_messages")


@pytest.mark.parametrize(
    "judges", [["openai:gpt-4o"], ["embedded", "x"], ["a"] * 5, [1], "embedded"]
)
def test_only_offered_judges_can_be_chosen(judges: object) -> None:
    with served() as client:
        answer = client.post("/api/playground", json={"conversation": OWN, "judges": judges})
    assert refusal(answer) == (400, "invalid_request")
    assert "gpt-4o" not in answer.text


def test_judges_are_compared_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        built = []

        def build(settings: Any) -> TableJudge:
            built.append((settings.judge, settings.llm))
            return TableJudge()

        monkeypatch.setattr(playgrounds, "build_judge", build)
        given = load({"judge": "cascade", "llm": "openai:gpt-4o-mini"}, environment={})
        playground = Playground(given, TableJudge(score=lambda text, task: 0.0))
        assert playground.judges == ("cascade", "embedded")
        for _ in range(2):
            runs = await playground.run(HIJACKED, ["embedded", "cascade", "embedded"])
            assert [each.judge for each in runs] == ["embedded", "cascade"]
            strict = [decision.allowed for decision in runs[1].decisions]
            assert all(decision.allowed for decision in runs[0].decisions) and not all(strict)
        assert built == [("embedded", None)]
        await playground.aclose()

    run(work())


def test_a_judge_that_cannot_be_built_does_not_affect_the_others() -> None:
    async def work() -> None:
        given = load(
            {"judge": "openai:m", "api_key": "sk-canary", "policy": {"objectives": "on"}},
            environment={},
        )
        playground = Playground(given, TableJudge())
        first, second = await playground.run(HIJACKED, ["openai:m", "embedded"])
        assert first.error is None and len(first.decisions) == 5
        assert second.error is not None and "objectives" in second.error
        assert second.decisions == () and "canary" not in second.error
        await playground.aclose()

    run(work())


def test_an_outage_is_reported_for_each_message() -> None:
    with served(by=TableJudge(error=JudgeUnavailable("gone"))) as client:
        found = tried(client, OWN)
    assert found["error"] is None
    assert {each["check"] for each in found["decisions"]} == {"failed"}


def test_the_playground_needs_the_scope_check() -> None:
    store = MemoryStore()
    with served(store, key=run(keyed(store, "approve"))) as client:
        answer = client.post("/api/playground", json={"conversation": OWN})
        assert refusal(answer) == (403, "forbidden")


def test_samples_are_aligned_and_misaligned_and_can_be_read() -> None:
    with served() as client:
        samples = client.get("/api/playground/samples").json()
    assert {sample["aligned"] for sample in samples} == {True, False}
    assert len({sample["name"] for sample in samples}) == len(samples)
    for sample in samples:
        conversation = read_conversation(sample["conversation"])
        called = {call.name for message in conversation.messages for call in message.tool_calls}
        assert called <= {tool.name for tool in conversation.tools}


def test_the_shipped_judge_distinguishes_aligned_and_misaligned_samples() -> None:

    async def work() -> None:
        given = load({}, environment={})
        judge = build_judge(given)
        playground = Playground(given, judge)
        for sample in read_samples():
            (found,) = await playground.run(read_conversation(sample.conversation), ["embedded"])
            allowed = all(decision.allowed for decision in found.decisions)
            if sample.name not in HARD:
                assert allowed is sample.aligned, sample.name
        await judge.aclose()

    run(work())
