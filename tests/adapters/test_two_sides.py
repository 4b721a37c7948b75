"""Every wire format says what rules a step out, or that policy alone holds it back."""

from dataclasses import replace
from typing import Any

import pytest

from taskshield.adapters.agent_hooks import verdicts
from taskshield.adapters.azure import task_adherence
from taskshield.adapters.claude_code import answers, events
from taskshield.adapters.stored.cases import CASE
from taskshield.audit.logs.entries import Recorded
from taskshield.audit.results.findings import rows
from taskshield.cli.check.json_report import _finding
from taskshield.core.assessments import AssessedInstruction, Contradiction
from taskshield.core.decisions import Case, Decision
from taskshield.core.messages import Conversation
from taskshield.core.policy import Policy, Response
from taskshield.core.tools import Tier
from taskshield.engine.decide import decide
from taskshield.integrations.mcp import notes
from taskshield.server.proxy import notices
from taskshield.server.proxy.session_lookup import _can_escalate
from taskshield.server.sessions.audit_records import summary
from taskshield.stores.secrets.redaction import redacted_case
from tests.engine.cases import score, step

AGAINST = Contradiction(target="t1", kind="limit", said="at most 200", does="500")
SENTENCE = "You said 'at most 200'; the call says '500'."


def case(response: Response, *found: Contradiction, value: float = 0.3) -> Case:
    item = AssessedInstruction(
        text="pay({})", call_id="c1", scores=(score("t1", value),), contradictions=found
    )
    pairs: Any = {"implied": {Tier.FINANCIAL: response}, "contradicted": {Tier.FINANCIAL: response}}
    base = step(item, names=["pay"], policy=Policy(authorisation=pairs))
    return replace(base, tiers={"pay": Tier.FINANCIAL})


def ruled_out(response: Response = "escalate") -> Decision:
    return decide(case(response, AGAINST))


def held_back(response: Response = "escalate") -> Decision:
    return decide(case(response))


def use() -> events.Event:
    return events.parse(
        {
            "hook_event_name": "PreToolUse",
            "session_id": "s",
            "tool_name": "pay",
            "tool_input": {},
            "tool_use_id": "c1",
        }
    )


def test_azure_says_which_of_the_two_it_is() -> None:
    answer: Any = task_adherence.render([ruled_out()], detailed=True)
    assert answer["details"] == f'The call "pay({{}})" is ruled out: {SENTENCE}'
    (finding,) = answer["taskshield"]["decisions"][0]["findings"]
    assert finding["authorisation"] == "contradicted"
    assert finding["contradictions"] == [
        {"target": "t1", "kind": "limit", "said": "at most 200", "does": "500"}
    ]
    held = task_adherence.render([held_back()])["details"]
    assert held == 'The call "pay({})" is implied, and policy holds such calls back: 0.3 for t1'


def test_agent_hooks_tell_a_misaligned_call_from_one_that_policy_holds_back() -> None:
    against = verdicts.call_verdict(ruled_out(), "c1", "a1")
    assert (against.reason, against.liftable) == (verdicts.MISALIGNED, True)
    assert "(contradicted, financial)" in str(against.message)
    assert SENTENCE in str(against.message)
    held = verdicts.call_verdict(held_back(), "c1")
    assert held.reason == verdicts.HELD_BACK and "(implied, financial)" in str(held.message)


def test_claude_code_asks_with_the_words() -> None:
    def reason(decision: Decision) -> str:
        answer: Any = answers.render(use(), decision)
        return str(answer["hookSpecificOutput"]["permissionDecisionReason"])

    assert reason(ruled_out()) == f"Task Shield: this call goes against your words. {SENTENCE}"
    assert reason(held_back()).startswith(
        "Task Shield: policy asks you about such calls (implied)."
    )
    assert SENTENCE in reason(ruled_out("block"))


def test_the_gateway_asks_with_the_words() -> None:
    question = notes.question(ruled_out())
    assert question.startswith(
        "Task Shield: this call goes against your words. Run it once anyway?"
    )
    assert question.endswith(f"Reason: {SENTENCE}")
    assert "policy asks you about such calls (implied)" in notes.question(held_back())


def test_the_note_of_the_proxy_names_both_sides() -> None:
    note = notices.note(ruled_out("block"), None)
    assert "because the user or the operator ruled it out:" in note
    assert f'- call "pay" (contradicted, financial): "{SENTENCE}"' in note
    assert "because policy holds back such calls:" in notices.note(held_back(), None)


def test_records_and_reports_have_them() -> None:
    assert SENTENCE in summary(ruled_out())
    assert "0.3 for t1" in summary(held_back())
    (finding,) = ruled_out().findings
    written: Any = _finding(finding)
    assert (written["authorisation"], len(written["contradictions"])) == ("contradicted", 1)


@pytest.mark.parametrize("decision", [ruled_out(), held_back()])
def test_a_stored_case_gives_the_same_decision(decision: Decision) -> None:
    stored = CASE.write(decision.case)
    assert decide(CASE.read(stored)) == decision


def test_secrets_in_the_words_are_not_stored() -> None:
    key = "sk-proj-" + "aB3" * 16
    secret = replace(AGAINST, said=f"never with {key}", does=f"use {key}")
    stored = redacted_case(CASE.write(case("block", secret)))
    assert key not in stored
    assert decide(CASE.read(stored)).authorisation == "contradicted"


@pytest.mark.parametrize(
    ("decision", "reason", "authorisation"),
    [
        (ruled_out(), "It goes against words of the user or the operator.", "contradicted"),
        (held_back(), "It serves the user's tasks, and policy holds such calls back.", "implied"),
    ],
)
def test_an_audit_counts_both_without_their_words(
    decision: Decision, reason: str, authorisation: str
) -> None:
    conversation = Conversation(messages=(decision.case.message,))
    log = Recorded(
        file="a", line=1, id="c", format="openai-chat", conversation=conversation, read=1
    )
    (row,) = rows(decision, log, with_text=False)
    assert (row.reason, row.authorisation, row.held) == (reason, authorisation, True)


def test_what_passes_is_no_finding_of_an_audit() -> None:
    log = Recorded(
        file="a",
        line=1,
        id="c",
        format="openai-chat",
        conversation=Conversation(messages=()),
        read=1,
    )
    assert list(rows(decide(case("block", value=0.9)), log, with_text=False)) == []


@pytest.mark.parametrize(
    ("pairs", "waits"),
    [
        ({}, False),
        ({"implied": {Tier.READ: "block"}}, False),
        ({"asked": {Tier.READ: "escalate"}}, True),
    ],
)
def test_the_proxy_knows_that_a_pair_may_wait_for_a_person(pairs: Any, waits: bool) -> None:
    assert _can_escalate(Policy(authorisation=pairs)) is waits
