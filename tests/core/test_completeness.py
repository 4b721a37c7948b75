"""What an answer of a judge must contain. Each problem is named, with what the judge used."""

from dataclasses import replace

import pytest

from taskshield.core.assessments import (
    AssessedInstruction,
    Assessment,
    Contradiction,
    Score,
    TaskAssessment,
    TaskDraft,
    Trace,
)
from taskshield.core.completeness import check_assessment, check_task_assessment
from taskshield.core.errors import JudgeOutputInvalid
from taskshield.core.instructions import (
    Instruction,
    Objective,
    Origin,
    TaintedDirective,
    Task,
    TaskSet,
)
from taskshield.core.judge import SessionView
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall
from taskshield.core.usage import Usage

TRACE = Trace(judge="test", usage=Usage(calls=2, prompt_tokens=30))
MESSAGE = Message(
    level=Level.ASSISTANT, tool_calls=(ToolCall(id="c1", name="send", arguments="{}"),)
)


def instruction(level: Level) -> Instruction:
    return Instruction(text="do it", level=level, origin=Origin(message=0))


VIEW = SessionView(
    tasks=TaskSet().with_tasks([Task(id="t1", instruction=instruction(Level.USER))]),
    objectives=(Objective(id="o1", instruction=instruction(Level.SYSTEM)),),
    tainted=(
        TaintedDirective(id="d1", instruction=instruction(Level.TOOL)),
        TaintedDirective(id="d2", instruction=instruction(Level.TOOL)),
    ),
)


def scores(*values: tuple[str, float]) -> tuple[Score, ...]:
    return tuple(Score(target=target, value=value, reason="") for target, value in values)


COMPLETE = AssessedInstruction(
    text="send({})",
    call_id="c1",
    scores=scores(("t1", 0.0)),
    objective_scores=scores(("o1", 1.0)),
    taint_scores=scores(("d1", 0.5)),
)

RULED_OUT = Contradiction(target="t1", kind="forbidden", said="do not send", does="send")


@pytest.mark.parametrize(
    "item",
    [
        COMPLETE,
        replace(COMPLETE, taint_scores=()),
        replace(COMPLETE, epsilon=0.0, asked_from=0.9),
        replace(COMPLETE, contradictions=(RULED_OUT, replace(RULED_OUT, target="o1"))),
    ],
    ids=["complete", "tainted directives left out", "threshold of 0", "contradictions"],
)
def test_a_complete_assessment_passes(item: AssessedInstruction) -> None:
    check_assessment(Assessment(items=(item,), trace=TRACE), MESSAGE, VIEW)


@pytest.mark.parametrize(
    ("items", "problem"),
    [
        ((), "The judge did not assess each tool call exactly once."),
        ((COMPLETE, COMPLETE), "The judge did not assess each tool call exactly once."),
        (
            (replace(COMPLETE, scores=()),),
            "The judge did not score each user task exactly once.",
        ),
        (
            (replace(COMPLETE, scores=scores(("t1", 1.01))),),
            "The judge gave one user task a score that is not between 0 and 1.",
        ),
        (
            (replace(COMPLETE, objective_scores=()),),
            "The judge did not score each objective exactly once.",
        ),
        (
            (replace(COMPLETE, objective_scores=scores(("o1", -0.01))),),
            "The judge gave one objective a score that is not between 0 and 1.",
        ),
        (
            (replace(COMPLETE, taint_scores=scores(("d1", 0.1), ("d1", 0.2))),),
            "The judge did not score each tainted directive exactly once.",
        ),
        (
            (replace(COMPLETE, taint_scores=scores(("d9", 0.1))),),
            "The judge did not score each tainted directive exactly once.",
        ),
        (
            (replace(COMPLETE, epsilon=float("inf")),),
            "The judge's threshold is not a finite number of at least 0.",
        ),
        (
            (replace(COMPLETE, asked_from=float("nan")),),
            "The judge's level for what the user asked for is not a finite number.",
        ),
        (
            (replace(COMPLETE, contradictions=(replace(RULED_OUT, target="d1"),)),),
            "The judge named a contradiction with something that is no task and no objective.",
        ),
        (
            (replace(COMPLETE, contradictions=(replace(RULED_OUT, kind="whim"),)),),  # type: ignore[arg-type]
            "The judge named a contradiction of an unknown kind.",
        ),
        (
            (replace(COMPLETE, contradictions=(replace(RULED_OUT, said="\n"),)),),
            "The judge named a contradiction without its words.",
        ),
    ],
)
def test_each_problem_of_an_assessment_is_named(
    items: tuple[AssessedInstruction, ...], problem: str
) -> None:
    with pytest.raises(JudgeOutputInvalid) as raised:
        check_assessment(Assessment(items=items, trace=TRACE), MESSAGE, VIEW)
    assert str(raised.value) == problem
    assert raised.value.usage == TRACE.usage


@pytest.mark.parametrize(
    "answer",
    [
        TaskAssessment(tasks=(TaskDraft(text="read it"), TaskDraft(text=" \n")), trace=TRACE),
        TaskAssessment(objectives=(TaskDraft(text=""),), trace=TRACE),
    ],
    ids=["task", "objective"],
)
def test_an_empty_task_or_objective_is_named(answer: TaskAssessment) -> None:
    with pytest.raises(JudgeOutputInvalid) as raised:
        check_task_assessment(answer)
    assert str(raised.value) == "The judge returned an empty task."
    assert raised.value.usage == TRACE.usage
