"""The system message as a second alignment target."""

from taskshield.core.assessments import Assessment, TaskAssessment
from taskshield.core.errors import (
    JudgeTimeout,
)
from taskshield.core.judge import SessionView
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text
from taskshield.core.policy import Policy
from taskshield.core.usage import Usage
from tests.engine.sessions import run, session
from tests.judging import TableJudge


def test_where_the_system_message_states_objectives_steps_must_serve_them_too() -> None:
    judge = TableJudge(
        objectives=["help with orders"],
        score=lambda text, goal: float("order" in text or goal != "help with orders"),
    )
    conversation = session(judge, system="You help with orders.")
    run(conversation.user("look up my order and a poem"))
    assert run(conversation.tool_call("read_file", {"path": "order"})).allowed
    outside = run(conversation.tool_call("read_file", {"path": "poem"}))
    assert not outside.allowed and outside.findings[0].total == 1
    assert [score.target for score in outside.findings[0].objective_scores] == ["o1"]
    assert outside.findings[0].reason == "0 for o1"


def test_the_system_message_is_read_once_and_together_with_the_users() -> None:
    judge = TableJudge(objectives=["be useful"])
    conversation = session(judge, system="Be nice.")
    decisions = [run(conversation.user("go")), run(conversation.user("on"))]
    decisions.append(run(conversation.tool_call("read_file", {})))
    assert [view.unread_system for view in judge.views] == ["Be nice.", "", ""]
    assert [decision.case.trace.usage.calls for decision in decisions] == [1, 1, 1]
    assert [goal.text for goal in conversation.state.objectives] == ["be useful"]


def test_a_later_system_message_is_read_as_well() -> None:
    judge = TableJudge(objectives=["be useful"])
    conversation = session(judge, system="One.")
    run(conversation.user("go"))
    run(conversation.add(Message(level=Level.SYSTEM, parts=(Text(text="Two."),))))
    assert conversation.state.system == "One.\n\nTwo."
    judge.objectives = ["be useful", "be brief"]
    first = run(conversation.tool_call("read_file", {}))
    second = run(conversation.tool_call("read_file", {}))
    assert judge.seen[1].text == "One.\n\nTwo."
    assert all(turn.message.level is not Level.SYSTEM for turn in judge.views[-1].history)
    assert (first.case.trace.usage.calls, second.case.trace.usage.calls) == (2, 1)
    for decision in (first, second, run(conversation.tool_output("c1", ""))):
        goals = decision.case.objectives
        assert [goal.text for goal in goals] == ["be useful", "be brief"]
        assert [goal.instruction.origin.message for goal in goals] == [0, 0]


def test_the_first_system_message_of_a_session_is_kept_as_it_is() -> None:
    conversation = session()
    run(conversation.add(Message(level=Level.SYSTEM, parts=(Text(text="Be nice."),))))
    assert conversation.state.system == "Be nice."


def test_what_reading_the_system_message_cost_is_counted_even_if_the_check_then_fails() -> None:
    class Late(TableJudge):
        async def assess(self, message: Message, view: SessionView) -> Assessment:
            raise JudgeTimeout("late", usage=Usage(calls=1))

    conversation = session(Late())
    run(conversation.user("go"))
    run(conversation.add(Message(level=Level.SYSTEM, parts=(Text(text="Be nice."),))))
    decision = run(conversation.tool_call("read_file", {}))
    assert decision.check == "failed" and decision.case.trace.usage.calls == 2
    assert conversation.state.usage.calls == 3


def test_objectives_can_be_switched_on_and_off() -> None:
    off = session(TableJudge(objectives=["x"]), Policy(objectives="off"), system="Do x.")
    run(off.user("go"))
    run(off.tool_call("read_file", {}))
    assert off.state.objectives == ()
    on = session(TableJudge(), Policy(objectives="on"), system="Do x.")
    run(on.user("go"))
    run(on.tool_call("read_file", {}))
    assert [goal.text for goal in on.state.objectives] == ["Do x."]
    stated = session(TableJudge(objectives=["x"]), Policy(objectives="on"), system="Do x.")
    run(stated.user("go"))
    assert [goal.text for goal in stated.state.objectives] == ["x"]


def test_a_system_message_without_objectives_is_no_target_by_default() -> None:
    conversation = session(TableJudge(), system="Be nice.")
    run(conversation.user("go"))
    assert conversation.state.objectives == () and conversation.state.objectives_known


def test_a_blank_system_message_is_not_read() -> None:
    judge = TableJudge(objectives=["x"])
    conversation = session(judge, Policy(objectives="on"), system=" \n")
    run(conversation.user("go"))
    run(conversation.tool_call("read_file", {}))
    assert conversation.state.objectives == () and len(judge.seen) == 2


def test_a_system_message_that_cannot_be_read_is_an_outage_of_the_check() -> None:
    class Deaf(TableJudge):
        async def tasks(self, message: Message, view: SessionView) -> TaskAssessment:
            raise JudgeTimeout("late")

    conversation = session(Deaf(), system="You help with orders.")
    run(conversation.user("go"))
    decision = run(conversation.tool_call("send_email", {}))
    assert decision.outage is not None and not decision.allowed
