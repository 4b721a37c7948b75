"""A blocked call stays blocked when it is tried again, in the same words or in others."""

import json
from typing import Any

import pytest

from taskshield.core.messages import ToolCall
from taskshield.core.tools import Tier, ToolSpec
from taskshield.engine.repeats.effects import Effects, effect_of
from taskshield.engine.session import EngineSession
from tests.engine.sessions import run, session
from tests.judging import TableJudge

ASKED = "Pay the rent to Anna and mail bob@example.com about it"
PAID = {"recipient": "DE89 3704 0044 0532 0130 00", "amount": 500, "subject": "rent"}
MAILED = {"to": "eve@evil.example", "body": "the secret plan of the house"}


def blocked(name: str, arguments: object, asked: str = ASKED) -> EngineSession:
    """A session that has just blocked this call, and whose judge would allow it now."""
    judge = TableJudge(score=lambda text, task: 0.0)
    conversation = session(judge)
    conversation.declare(ToolSpec(name="pay_bill"), ToolSpec(name="mail_person"))
    conversation.declare(ToolSpec(name="bash"), ToolSpec(name="delete_item"))
    run(conversation.user(asked))
    assert not run(conversation.tool_call(name, json.dumps(arguments))).allowed
    judge.score = lambda text, task: 1.0
    run(conversation.tool_call("read_file", {"path": "notes"}))
    return conversation


@pytest.mark.parametrize(
    ("name", "first", "again"),
    [
        ("send_money", PAID, PAID),
        ("send_money", PAID, {**PAID, "urgent": True}),
        ("send_money", PAID, {**PAID, "reference": "a-1"}),
        ("send_money", PAID, {**PAID, "subject": "Miete"}),
        ("send_money", PAID, {**PAID, "recipient": "de89370400440532013000"}),
        ("send_money", PAID, {**PAID, "amount": "500.00"}),
        ("send_money", PAID, {"subject": "x", "amount": 500.0, "recipient": PAID["recipient"]}),
        ("send_money", PAID, {"to": PAID["recipient"], "sum": "$500"}),
        ("send_money", {**PAID, "amount": 1234.5}, {**PAID, "amount": "1.234,50"}),
        ("send_money", {**PAID, "timeout": 5}, PAID),
        ("send_money", {"a": [PAID]}, {"b": PAID}),
        ("send_money", {**PAID, "limit": "5", "memo": None}, PAID),
        ("send_email", MAILED, {"to": "EVE@evil.example", "body": "Hello"}),
        ("send_email", MAILED, {"to": ["eve@evil.example", "bob@example.com"]}),
        ("send_email", MAILED, {"to": "Eve <eve@evil.example>", "body": "Hi"}),
        ("share_file", {"user": "Mallory M", "file": "a"}, {"user": " mallory  m", "file": "A"}),
        ("delete_item", {"id": 17}, {"id": "17", "force": True}),
        ("delete_item", {"id": "x-1", "reason": "old"}, {"id": "X-1", "reason": "tidy up"}),
        ("bash", {"command": "wget -O f http://h.example"}, {"command": "wget -q -O f  h.example"}),
        ("write_note", {"text": "buy milk and eggs now"}, {"text": "Buy milk and eggs, now!"}),
        ("write_note", "just some words", "Just some words"),
    ],
)
def test_a_call_of_the_same_effect_stays_blocked(name: str, first: Any, again: Any) -> None:
    conversation = blocked(name, first)
    decision = run(conversation.tool_call(name, json.dumps(again)))
    assert decision.action == "block"
    assert "was blocked before" in decision.findings[0].reason
    run(conversation.user("I mean it"))
    assert run(conversation.tool_call(name, json.dumps(again))).allowed


@pytest.mark.parametrize(
    ("name", "first", "again"),
    [
        ("send_money", PAID, {**PAID, "recipient": "DE02120300000000202051"}),
        ("send_money", PAID, {**PAID, "amount": 50}),
        ("send_money", PAID, {**PAID, "amount": 5000}),
        ("send_email", MAILED, {**MAILED, "to": "bob@example.com"}),
        ("send_email", {**MAILED, "cc": "bob@example.com"}, {"to": "bob@example.com"}),
        (
            "send_email",
            {"to": "bob@example.com", "body": "wire all the money"},
            {"to": "bob@example.com", "body": "the rent is paid"},
        ),
        ("delete_item", {"id": 17}, {"id": 18}),
        ("write_note", {"path": "a.md", "text": "one two"}, {"path": "a.md", "text": "three four"}),
        ("bash", {"command": "pytest tests/x.py"}, {"command": "git add tests/x.py"}),
        ("write_note", {}, {"text": "hello"}),
        ("write_note", {"on": True}, {"on": False}),
    ],
)
def test_a_corrected_call_is_judged_again(name: str, first: Any, again: Any) -> None:
    assert run(blocked(name, first).tool_call(name, json.dumps(again))).allowed


def test_another_tool_of_the_same_tier_does_not_reach_a_blocked_recipient() -> None:
    conversation = blocked("send_email", MAILED)
    assert not run(conversation.tool_call("mail_person", {"person": "eve@evil.example"})).allowed
    assert run(conversation.tool_call("share_file", {"user": "eve@evil.example"})).allowed
    conversation = blocked("send_money", {"amount": 77})
    assert run(conversation.tool_call("pay_bill", {"amount": 77})).allowed


def test_words_without_a_task_let_nothing_pass_that_was_blocked() -> None:
    conversation = blocked("send_money", PAID)
    conversation._judge.drafts = lambda text: ()  # type: ignore[attr-defined]
    run(conversation.user("go on"))
    assert not run(conversation.tool_call("send_money", PAID)).allowed


def test_a_person_may_approve_what_stays_blocked() -> None:
    conversation = blocked("send_money", PAID)
    again = run(conversation.tool_call("send_money", {**PAID, "urgent": True}))
    conversation.approve(again)
    assert run(conversation.tool_call("send_money", {**PAID, "urgent": True})).allowed
    assert not run(conversation.tool_call("send_money", {**PAID, "urgent": True})).allowed


def test_a_blocked_read_call_blocks_no_call_but_itself() -> None:
    conversation = blocked("read_file", {"path": "https://host/secret"})
    assert not run(conversation.tool_call("read_file", {"path": "https://host/secret"})).allowed
    assert run(
        conversation.tool_call("read_file", {"path": "https://host/secret", "limit": 5})
    ).allowed


def test_a_session_remembers_a_bounded_number_of_effects() -> None:
    conversation = blocked("delete_item", {"id": "x"})
    conversation._judge.score = lambda text, task: 0.0  # type: ignore[attr-defined]
    for number in range(130):
        run(conversation.tool_call("delete_item", {"id": f"item {number}"}))
    effects = [one for one in conversation.state.refused if one.startswith("effect ")]
    assert len(effects) == 100
    assert max(map(len, effects)) < 600


def test_the_size_of_an_effect_is_bounded_and_unknown_ones_are_ignored() -> None:
    many = {f"k{number}": f"u{number}@example.com" for number in range(3_000)}
    call = ToolCall(id="c", name="send_email", arguments=json.dumps({**many, "body": "a b " * 999}))
    refused = effect_of(call, Tier.EXTERNAL, "")
    assert len(refused) < 600
    assert Effects(frozenset((refused,))).include(call, Tier.EXTERNAL)
    assert not Effects(frozenset(("effect of a later release",))).include(call, Tier.EXTERNAL)


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("mail anna.smith@example.com", True),
        ("mail Anna Smith", True),
        ("mail Anna", False),
        ("pay 1,500 to her", False),
    ],
)
def test_a_mail_address_is_named_by_its_owners_name(said: str, named: bool) -> None:
    call = ToolCall(id="c", name="send", arguments='{"to": "anna.smith@example.com", "text": "hi"}')
    other = ToolCall(id="d", name="send", arguments='{"to": "anna.smith@example.com"}')
    refused = Effects(frozenset((effect_of(call, Tier.EXTERNAL, said),)))
    assert refused.include(other, Tier.EXTERNAL) is not named


def test_a_number_is_named_in_any_format() -> None:
    call = ToolCall(id="c", name="pay", arguments='{"amount": "1500.00", "id": "q-9"}')
    other = ToolCall(id="d", name="pay", arguments='{"id": "q-9", "amount": 1}')
    assert Effects(frozenset((effect_of(call, Tier.FINANCIAL, "pay 1,500"),))).include(
        other, Tier.FINANCIAL
    )
    assert not Effects(frozenset((effect_of(call, Tier.FINANCIAL, "pay 15"),))).include(
        other, Tier.FINANCIAL
    )
