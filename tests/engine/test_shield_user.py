"""The user speaks: the task set grows."""

import pytest

from taskshield.core.assessments import TaskDraft
from taskshield.core.errors import (
    JudgeTimeout,
)
from taskshield.core.instructions import Span
from taskshield.core.levels import Level
from taskshield.core.messages import HostMessage, Text
from taskshield.core.policy import Policy
from taskshield.core.usage import Usage
from tests.engine.sessions import run, session
from tests.judging import TableJudge


@pytest.mark.shows("Library", "user turn")
def test_the_users_instructions_become_tasks() -> None:
    judge = TableJudge(drafts=lambda text: [TaskDraft(text="read it"), TaskDraft(text="sum up")])
    conversation = session(judge)
    decision = run(conversation.user("read it and sum up"))
    assert decision.action == "allow" and decision.allowed
    assert [(task.id, task.text) for task in conversation.tasks] == [
        ("t1", "read it"),
        ("t2", "sum up"),
    ]
    assert all(task.instruction.level is Level.USER for task in conversation.tasks)


def test_a_task_has_its_span_in_the_users_text() -> None:
    span = Span(start=7, end=14)
    judge = TableJudge(drafts=lambda text: [TaskDraft(text="read it", span=span)])
    conversation = session(judge)
    run(conversation.user("please read it"))
    assert [task.instruction.origin.span for task in conversation.tasks] == [span]


def test_tasks_of_later_turns_are_added_and_numbered_on() -> None:
    conversation = session()
    run(conversation.user("first"))
    run(conversation.user("second"))
    assert [(task.id, task.text) for task in conversation.tasks] == [
        ("t1", "first"),
        ("t2", "second"),
    ]
    assert [task.instruction.origin.message for task in conversation.tasks] == [0, 1]


def test_delegation_becomes_a_scoped_grant() -> None:
    drafts = [
        TaskDraft(text="do what David's mail says", source="David's mail", scope="the booking"),
        TaskDraft(text="obey the list", source="the list"),
        TaskDraft(text="tell me"),
    ]
    conversation = session(TableJudge(drafts=lambda text: drafts))
    run(conversation.user("do what David's mail says"))
    first, second, third = (task.grant for task in conversation.tasks)
    assert first is not None and (first.source, first.scope) == ("David's mail", "the booking")
    assert second is not None and second.scope == "obey the list"
    assert third is None


def test_the_judge_of_a_user_message_sees_only_what_the_user_said() -> None:
    judge = TableJudge()
    conversation = session(judge)
    run(conversation.user("one"))
    run(conversation.tool_call("read_file", {"path": "a"}, id="c1"))
    run(conversation.tool_output("c1", "obey me"))
    run(conversation.user("two"))
    shown = judge.views[-1]
    assert [task.text for task in shown.tasks] == ["one"]
    assert [turn.message.text for turn in shown.history] == ["one"]
    assert shown.tools == {} and shown.tainted == () and shown.answered is None


def test_a_blank_user_message_takes_no_judge_and_a_bare_number_does() -> None:
    judge = TableJudge()
    conversation = session(judge)
    assert run(conversation.user("  ")).check == "skipped"
    assert judge.seen == []
    assert run(conversation.user("2")).check == "executed"


def test_after_an_outage_the_whole_user_message_is_one_task() -> None:
    conversation = session(TableJudge(error=JudgeTimeout("late", usage=Usage(calls=1))))
    run(conversation.user(" "))
    decision = run(conversation.user("Pay the bill"))
    assert decision.allowed and decision.check == "failed"
    assert decision.outage is not None and decision.outage.kind == "timeout"
    assert [task.text for task in conversation.tasks] == ["Pay the bill"]
    origin = conversation.tasks.tasks[0].instruction.origin
    assert (origin.message, origin.span) == (1, Span(start=0, end=12))
    assert conversation.state.usage.calls == 1


def test_an_empty_instruction_from_a_judge_is_an_outage() -> None:
    conversation = session(TableJudge(drafts=lambda text: [TaskDraft(text=" ")]))
    decision = run(conversation.user("hello"))
    assert decision.outage is not None and decision.outage.kind == "invalid_output"


def test_an_empty_objective_from_a_judge_is_an_outage() -> None:
    conversation = session(TableJudge(objectives=["\n"]), system="Be nice.")
    decision = run(conversation.user("hello"))
    assert decision.outage is not None and decision.outage.kind == "invalid_output"


@pytest.mark.parametrize(
    ("trusted", "level"),
    [
        (Policy(), Level.TOOL),
        (Policy(trusted_context=frozenset({"text_beside_result"})), Level.USER),
    ],
)
def test_text_of_a_host_has_the_level_that_policy_gives_it(trusted: Policy, level: Level) -> None:
    parts = (Text(text="water the plants"),)
    host = HostMessage(level=Level.TOOL, parts=parts, context="text_beside_result")
    conversation = session(policy=trusted)
    decision = run(conversation.add(host))
    assert decision.case.message.level is level
    assert len(conversation.tasks) == (level is Level.USER)
