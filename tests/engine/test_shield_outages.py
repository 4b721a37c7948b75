"""A judge that fails, breaks or leaves something out."""

import pytest

from taskshield.core.assessments import Assessment
from taskshield.core.errors import (
    JudgeBudgetExceeded,
    JudgeError,
    JudgeOutputInvalid,
    JudgeOverwhelmed,
    JudgeTimeout,
)
from taskshield.core.judge import SessionView
from taskshield.core.messages import Message
from taskshield.core.policy import Policy
from taskshield.core.tools import Tier
from tests.engine.sessions import only, run, session
from tests.judging import TableJudge


@pytest.mark.parametrize(
    ("error", "kind", "detail"),
    [
        (JudgeTimeout("late"), "timeout", "late"),
        (JudgeOutputInvalid("nonsense"), "invalid_output", "nonsense"),
        (JudgeBudgetExceeded("spent"), "budget", "spent"),
        (JudgeError("gone"), "unavailable", "gone"),
        (
            ZeroDivisionError("a bug in a plugin"),
            "unavailable",
            "The judge failed (ZeroDivisionError).",
        ),
    ],
)
def test_an_outage_blocks_side_effects_and_lets_reads_pass(
    error: Exception, kind: str, detail: str
) -> None:
    judge = TableJudge()
    conversation = session(judge)
    run(conversation.user("go"))
    judge.error = error
    blocked = run(conversation.tool_call("send_email", {}))
    assert blocked.action == "block" and blocked.check == "failed"
    assert blocked.judge == "table"
    assert blocked.outage is not None and blocked.outage.kind == kind
    assert blocked.outage.detail == detail
    assert blocked.feedback is not None and "could not be made" in blocked.feedback
    read = run(conversation.tool_call("read_file", {}))
    assert read.allowed and read.outage is not None and read.feedback is None
    assert conversation.state.counters.failed == 2


def test_a_call_approved_by_a_person_passes_during_an_outage() -> None:
    judge = TableJudge()
    conversation = session(judge, Policy(outage={**Policy().outage, Tier.EXTERNAL: "escalate"}))
    run(conversation.user("go"))
    judge.error = JudgeTimeout("late")
    blocked = run(conversation.tool_call("send_email", {}))
    assert blocked.action == "escalate"
    conversation.approve(blocked)
    assert run(conversation.tool_call("send_email", {})).allowed


def test_an_outage_is_not_a_refusal() -> None:
    judge = only("alice")
    conversation = session(judge)
    run(conversation.user("mail alice"))
    judge.error = JudgeTimeout("late")
    assert run(conversation.tool_call("send_email", {"to": "bob"})).action == "block"
    judge.error = None
    assert run(conversation.tool_call("send_email", {"to": "bob"})).action == "revise"


def test_a_call_too_big_to_be_judged_is_blocked_even_if_it_only_reads() -> None:
    judge = TableJudge()
    conversation = session(judge)
    run(conversation.user("go"))
    judge.error = JudgeOverwhelmed("too long")
    decision = run(conversation.tool_call("read_file", {"path": "x"}))
    assert decision.action == "block"
    assert decision.outage is not None and decision.outage.kind == "oversized"
    conversation.approve(decision)
    assert run(conversation.tool_call("read_file", {"path": "x"})).allowed


def test_where_policy_redacts_output_that_could_not_be_checked_is_withheld() -> None:
    judge = TableJudge()
    conversation = session(judge, Policy(output="redact"))
    run(conversation.user("go"))
    judge.error = JudgeTimeout("late")
    assert run(conversation.tool_output("c1", "data")).action == "withhold"


@pytest.mark.parametrize(
    ("response", "content"),
    [("allow", "data"), ("annotate", "data\n\n[Task Shield"), ("withhold", "[Task Shield")],
)
def test_unchecked_output_is_treated_as_policy_says(response: str, content: str) -> None:
    judge = TableJudge()
    conversation = session(judge, Policy(output_outage=response))  # type: ignore[arg-type]
    run(conversation.user("go"))
    judge.error = JudgeTimeout("late")
    decision = run(conversation.tool_output("c1", "data"))
    assert decision.action == response and decision.content.startswith(content)
    assert decision.outage is not None


class Careless(TableJudge):
    """Gives a verdict that is not a full one."""

    change: str = ""

    async def assess(self, message: Message, view: SessionView) -> Assessment:
        reading = await super().assess(message, view)
        return mangled(reading, self.change)


def mangled(reading: Assessment, change: str) -> Assessment:
    from dataclasses import replace

    (item,) = reading.items
    score = item.scores[0]
    match change:
        case "no calls":
            return replace(reading, items=())
        case "twice":
            return replace(reading, items=(item, item))
        case "no scores":
            items = [replace(item, scores=())]
        case "extra score":
            items = [replace(item, scores=(score, replace(score, target="t9")))]
        case "same target twice":
            items = [replace(item, scores=(score, score))]
        case "too high":
            items = [replace(item, scores=(replace(score, value=1.5),))]
        case "too low":
            items = [replace(item, scores=(replace(score, value=-0.5),))]
        case "no objective scores":
            items = [replace(item, objective_scores=())]
        case "not a number":
            items = [replace(item, scores=(replace(score, value=float("nan")),))]
        case "no threshold":
            items = [replace(item, epsilon=float("nan"))]
        case "threshold that lets all through":
            items = [replace(item, epsilon=float("-inf"))]
        case "threshold below 0":
            items = [replace(item, epsilon=-0.1)]
        case "unknown taint":
            items = [replace(item, taint_scores=(replace(score, target="d9"),))]
        case "unknown objective":
            items = [replace(item, objective_scores=(replace(score, target="o9"),))]
        case _:
            raise AssertionError(change)
    return replace(reading, items=tuple(items))


@pytest.mark.parametrize(
    "change",
    [
        "no calls",
        "twice",
        "no scores",
        "extra score",
        "same target twice",
        "too high",
        "too low",
        "not a number",
        "no threshold",
        "threshold that lets all through",
        "threshold below 0",
        "unknown taint",
        "unknown objective",
    ],
)
def test_a_verdict_with_gaps_is_an_outage(change: str) -> None:
    judge = Careless()
    judge.change = change
    conversation = session(judge)
    run(conversation.user("go"))
    decision = run(conversation.tool_call("send_email", {}))
    assert decision.outage is not None and decision.outage.kind == "invalid_output"
    assert not decision.allowed


def test_a_verdict_that_leaves_out_the_objectives_is_an_outage() -> None:
    judge = Careless(objectives=["help with orders"])
    judge.change = "no objective scores"
    conversation = session(judge, system="You help with orders.")
    run(conversation.user("go"))
    decision = run(conversation.tool_call("send_email", {}))
    assert decision.outage is not None and not decision.allowed
