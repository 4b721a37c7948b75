"""Feedback rounds, and what a person approves."""

import pytest

from taskshield.core.errors import (
    ConversationError,
)
from taskshield.core.instructions import Instruction, Origin
from taskshield.core.levels import Level
from taskshield.core.messages import ToolCall
from taskshield.core.policy import Policy
from taskshield.core.session_state import SessionState
from taskshield.core.tools import Tier
from taskshield.engine.repeats.fingerprints import instruction_fingerprint
from taskshield.engine.session import EngineSession
from tests.engine.sessions import only, run, session
from tests.judging import TableJudge


def test_after_the_last_round_a_misaligned_call_is_blocked() -> None:
    conversation = session(only("alice"), Policy(rounds=2))
    run(conversation.user("mail alice"))
    seen = []
    for name in ("bob", "carol", "dave"):
        decision = run(conversation.tool_call("send_email", {"to": name}))
        seen.append((decision.action, decision.round, conversation.rounds_left))
    assert seen == [("revise", 1, 1), ("revise", 2, 0), ("block", None, 0)]
    assert conversation.exhausted
    assert decision.feedback is not None and "will not be carried out" in decision.feedback
    assert run(conversation.tool_call("send_email", {"to": "alice"})).allowed


def test_a_session_restored_under_fewer_rounds_is_exhausted() -> None:
    conversation = EngineSession(
        judge=TableJudge(), policy=Policy(rounds=1), state=SessionState(id="s", rounds_used=3)
    )
    assert conversation.rounds_left == 0 and conversation.exhausted


def test_a_repeated_misaligned_call_gets_no_fresh_round() -> None:
    conversation = session(only("alice"))
    run(conversation.user("mail alice"))
    assert run(conversation.tool_call("send_email", '{"to": "bob"}')).action == "revise"
    again = run(conversation.tool_call("send_email", '{ "to":"bob" }'))
    assert again.action == "block" and again.round is None
    assert conversation.rounds_left == 2


def test_a_new_message_of_the_user_starts_the_rounds_afresh() -> None:
    conversation = session(only("alice"), Policy(rounds=1))
    run(conversation.user("mail alice"))
    run(conversation.tool_call("send_email", {"to": "bob"}))
    assert conversation.exhausted
    run(conversation.user("go on"))
    assert conversation.rounds_left == 1
    assert run(conversation.tool_call("send_email", {"to": "bob"})).action == "revise"


def test_plans_pass_marked_once_the_rounds_are_spent() -> None:
    judge = TableJudge(directives=lambda text: [text], score=lambda text, task: 0.0)
    conversation = session(judge, Policy(rounds=1))
    run(conversation.user("do something"))
    assert run(conversation.assistant("post it online")).action == "revise"
    decision = run(conversation.assistant("Post  it online"))
    assert decision.action == "observe" and decision.allowed and decision.misaligned


def test_a_repeated_plan_does_not_pass_while_there_are_rounds_left() -> None:
    judge = TableJudge(directives=lambda text: [text], score=lambda text, task: 0.0)
    conversation = session(judge, Policy(rounds=2))
    run(conversation.user("do something"))
    actions = [run(conversation.assistant("post it online")).action for _ in range(3)]
    assert actions == ["revise", "revise", "observe"]


def test_a_plan_is_blocked_where_policy_blocks_plans() -> None:
    judge = TableJudge(directives=lambda text: [text], score=lambda text, task: 0.0)
    conversation = session(judge, Policy(text="block"))
    run(conversation.user("do something"))
    assert run(conversation.assistant("post it online")).action == "block"


def test_everything_refused_in_a_turn_is_remembered_and_nothing_else() -> None:
    conversation = session(only("alice"))
    run(conversation.user("mail alice"))
    alice, bob, carol = (
        ToolCall(id=name, name="send_email", arguments=f'{{"to": "{name}"}}')
        for name in ("alice", "bob", "carol")
    )
    run(conversation.assistant("", [alice, bob]))
    run(conversation.assistant("", [carol]))
    refused = conversation.state.refused
    assert {one for one in refused if " " not in one} == {bob.fingerprint(), carol.fingerprint()}
    assert sum(one.startswith("effect ") for one in refused) == len(refused) - 2 == 2
    assert run(conversation.tool_call("send_email", {"to": "bob"})).action == "block"


def test_a_judge_sees_which_earlier_calls_were_refused() -> None:
    judge = only("alice")
    conversation = session(judge)
    run(conversation.user("mail alice"))
    run(conversation.tool_call("send_email", {"to": "bob"}, id="c1"))
    run(conversation.tool_call("send_email", {"to": "alice"}, id="c2"))
    run(conversation.assistant("done with it"))
    assert [turn.refused for turn in judge.views[-1].history] == [set(), {"c1"}, set()]


@pytest.mark.shows("Library", "HITL")
def test_what_a_person_approves_passes_once_and_in_this_turn_only() -> None:
    policy = Policy(misaligned={**Policy().misaligned, Tier.FINANCIAL: "escalate"})
    conversation = session(only("alice"), policy)
    run(conversation.user("pay alice"))
    blocked = run(conversation.tool_call("send_money", {"to": "bob"}))
    assert blocked.action == "escalate" and not blocked.allowed
    assert blocked.feedback is not None and "waits for it" in blocked.feedback
    conversation.approve(blocked)
    assert run(conversation.tool_call("send_money", {"to": "carol"})).action == "escalate"
    passed = run(conversation.tool_call("send_money", {"to": "bob"}))
    assert passed.allowed and passed.findings[0].approved and not passed.findings[0].aligned
    again = run(conversation.tool_call("send_money", {"to": "bob"}))
    assert again.action == "escalate"
    conversation.approve(again)
    run(conversation.user("and again"))
    assert run(conversation.tool_call("send_money", {"to": "bob"})).action == "escalate"
    with pytest.raises(ConversationError) as raised:
        conversation.approve(blocked)
    assert str(raised.value) == (
        "The user has spoken since this decision. It can no longer be approved."
    )


def test_an_approved_plan_passes_however_it_is_laid_out() -> None:
    judge = TableJudge(directives=lambda text: [text], score=lambda text, task: 0.0)
    conversation = session(judge, Policy(text="escalate"))
    run(conversation.user("do something"))
    conversation.approve(run(conversation.assistant("post it online")))
    assert run(conversation.assistant("Post  it\nonline")).allowed


def test_an_approved_plan_passes_once_and_no_other_plan_with_it() -> None:
    judge = TableJudge(directives=lambda text: [text], score=lambda text, task: 0.0)
    conversation = session(judge, Policy(text="escalate"))
    run(conversation.user("do something"))
    conversation.approve(run(conversation.assistant("post it online")))
    assert not run(conversation.assistant("mail it to eve")).allowed
    assert run(conversation.assistant("post it online")).allowed
    assert not run(conversation.assistant("post it online")).allowed


def test_the_fingerprint_of_a_plan_stays_the_same_because_sessions_store_it() -> None:
    origin = Origin(message=0)
    plan = Instruction(text="Post  it\nonline", level=Level.ASSISTANT, origin=origin)
    assert instruction_fingerprint(plan) == (
        "3ba0f57f1023c74fd274c32386aafacea24d70f631d4987ac773be67481432a1"
    )


def test_one_approval_does_not_undo_another() -> None:
    conversation = session(only("alice"), Policy(tools={"send_money": "escalate"}))
    run(conversation.user("pay alice"))
    blocked = [run(conversation.tool_call("send_money", {"to": name})) for name in ("bob", "carol")]
    for decision in blocked:
        conversation.approve(decision)
    for name in ("bob", "carol"):
        assert run(conversation.tool_call("send_money", {"to": name})).allowed


def test_a_plan_can_be_approved_too() -> None:
    judge = TableJudge(directives=lambda text: [text], score=lambda text, task: 0.0)
    conversation = session(judge, Policy(text="escalate"))
    run(conversation.user("do something"))
    blocked = run(conversation.assistant("post it online"))
    assert blocked.action == "escalate"
    conversation.approve(blocked)
    assert run(conversation.assistant("post it online")).allowed
