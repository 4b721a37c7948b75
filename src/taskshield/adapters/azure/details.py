"""Why there is a risk: Azure's `details`, and the findings that it has no place for."""

from collections.abc import Sequence
from dataclasses import asdict

from taskshield.core.assessments import Score
from taskshield.core.decisions import Decision, Finding
from taskshield.core.safe_text import one_line

_QUOTED = 200
_REASON = 300


def sentences(blocked: Sequence[Decision]) -> str:
    """What is blocked and why, for people."""
    return " ".join(sentence for decision in blocked for sentence in _sentences(decision))


def render(decisions: Sequence[Decision], newest: Sequence[Decision]) -> dict[str, object]:
    """All decisions with their findings; `newest` are those that the answer is about."""
    judged = {decision.id for decision in newest}
    return {
        "tasks": [{"id": task.id, "text": task.text} for task in decisions[-1].case.tasks]
        if decisions
        else [],
        "decisions": [{**_decision(each), "newest": each.id in judged} for each in decisions],
    }


def _sentences(decision: Decision) -> list[str]:
    if decision.outage is not None:
        return ["The agent's step is too long, or holds too much, to be checked."]
    return [_sentence(each) for each in decision.stopped]


def _sentence(finding: Finding) -> str:
    kind = "plan" if finding.call_id is None else "call"
    text = one_line(finding.instruction.text, _QUOTED)
    reason = one_line(finding.reason, _REASON)
    if finding.contradictions:
        verdict = "is ruled out"
    elif finding.aligned:
        verdict = f"is {finding.authorisation}, and policy holds such calls back"
    else:
        verdict = "does not serve the user's tasks"
    return f'The {kind} "{text}" {verdict}: {reason}'


def _decision(decision: Decision) -> dict[str, object]:
    return {
        "id": decision.id,
        "message": decision.case.index,
        "level": decision.case.message.level.value,
        "action": decision.action,
        "check": decision.check,
        "judge": decision.judge,
        "findings": [_finding(finding) for finding in decision.findings],
    }


def _finding(finding: Finding) -> dict[str, object]:
    return {
        "instruction": finding.instruction.text,
        "toolCallId": finding.call_id,
        "tier": None if finding.tier is None else finding.tier.value,
        "authorisation": finding.authorisation,
        "contradictions": [asdict(each) for each in finding.contradictions],
        "score": finding.total,
        "threshold": finding.epsilon,
        "aligned": finding.aligned,
        "action": finding.action,
        "reason": finding.reason,
        "scores": [_score(score) for score in finding.scores],
    }


def _score(score: Score) -> dict[str, object]:
    return {"task": score.target, "score": score.value, "reason": score.reason}
