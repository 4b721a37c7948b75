from dataclasses import replace
from datetime import timedelta

import pytest

from taskshield.core.errors import ConversationError
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall
from taskshield.core.policy import Policy
from taskshield.server.sessions.audit_records import TextRedaction
from taskshield.server.sessions.judgement import Judgement, JudgingRules, judge_messages
from taskshield.server.sessions.resume_keys import ResumeKeys
from taskshield.server.sessions.snapshots import SessionSnapshot, new_snapshot
from tests.engine.sessions import run
from tests.server.sessions.stored_sessions import (
    HERE,
    in_library,
)
from tests.server.stage import (
    ESCALATING,
    HIJACKED,
    TENANT,
    TOOLS,
    call,
    judge,
    outcome,
    user,
)

RULES = JudgingRules(
    document_version=lambda: 1,
    judge=judge(),
    policy=ESCALATING,
    redaction=TextRedaction(),
    approval_time=timedelta(minutes=10),
)
MONEY = call("send_money", id="c2", path="evil")


def judged(
    *messages: Message,
    snapshot: SessionSnapshot | None = None,
    resume: ResumeKeys | None = None,
    rules: JudgingRules = RULES,
) -> Judgement:
    """The judgement on these messages; no store is involved."""
    start = new_snapshot(TENANT, "s", TOOLS) if snapshot is None else snapshot
    return run(judge_messages(start, messages, rules=rules, source=HERE, resume=resume))


def after(judgement: Judgement) -> SessionSnapshot:
    """The snapshot that a judgement leads to."""
    return replace(new_snapshot(TENANT, "s"), version=1, content=judgement.content)


def test_each_message_gets_a_decision_and_an_audit_record() -> None:
    found = judged(*HIJACKED.messages, rules=replace(RULES, policy=Policy()))
    assert outcome(found.decisions) == outcome(run(in_library(HIJACKED.messages)))
    assert [each.id for each in found.records] == [each.id for each in found.decisions]
    assert {(each.session, each.surface) for each in found.records} == {("s", "test")}
    assert found.content.state.messages == 5
    assert found.approvals == {}


def test_the_snapshot_itself_does_not_change() -> None:
    start = new_snapshot(TENANT, "s", TOOLS)
    before = start.content
    judged(user(), snapshot=start)
    assert start.content is before and start.state.messages == 0


def test_a_call_that_a_person_must_decide_about_becomes_an_approval() -> None:
    found = judged(user(), MONEY)
    decision = found.decisions[1]
    approval = found.approvals[decision.id]
    assert (approval.session, approval.decision, approval.status) == ("s", decision.id, "pending")
    assert approval.deadline - approval.created_at == RULES.approval_time
    (calls,) = found.content.approvable.values()
    assert set(found.content.approvable) == {approval.id} and len(calls) == 1


def test_approvals_wait_until_the_user_writes_again() -> None:
    first = judged(user(), MONEY)
    second = judged(call("send_money", id="c3", path="evil twin"), snapshot=after(first))
    assert set(first.content.approvable) < set(second.content.approvable)
    third = judged(user("Stop."), snapshot=after(second))
    assert third.content.approvable == {}


def test_a_call_before_the_users_last_message_needs_no_approval() -> None:
    assert judged(user(), MONEY, user("Stop.")).approvals == {}


def test_the_next_snapshot_gets_the_names_and_all_decisions() -> None:
    first = judged(user())
    resume = ResumeKeys(names=("n",), decisions=first.decisions, unless=lambda each: False)
    second = judged(call(), snapshot=after(first), resume=resume)
    assert second.content.names == ("n",)
    assert second.content.decision_ids == tuple(
        each.id for each in (*first.decisions, *second.decisions)
    )


def test_one_decision_can_prevent_the_names() -> None:
    resume = ResumeKeys(names=("n",), decisions=(), unless=lambda each: not each.allowed)
    found = judged(user(), MONEY, resume=resume)
    assert (found.content.names, found.content.decision_ids) == ((), ())


def test_without_names_a_snapshot_keeps_none_of_the_one_before() -> None:
    resume = ResumeKeys(names=("n",), decisions=(), unless=lambda each: False)
    first = judged(user(), resume=resume)
    second = judged(call(), snapshot=after(first))
    assert (second.content.names, second.content.decision_ids) == ((), ())


def test_an_error_counts_the_messages_of_the_whole_conversation() -> None:
    twice = (ToolCall(id="c", name="a", arguments=""), ToolCall(id="c", name="b", arguments=""))
    broken = Message(level=Level.ASSISTANT, tool_calls=twice)
    with pytest.raises(ConversationError, match="message 1: Two tool calls"):
        judged(user(), broken)
    known = judged(user()).decisions
    resume = ResumeKeys(names=("n",), decisions=known, unless=lambda each: False)
    with pytest.raises(ConversationError, match="message 2: Two tool calls"):
        judged(user(), broken, resume=resume)
