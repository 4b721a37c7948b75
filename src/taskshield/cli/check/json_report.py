"""The result of a check as one JSON document, for programs. Texts are complete; all is ASCII."""

import json
from dataclasses import asdict

from taskshield.cli.check_result import Outcome
from taskshield.core.assessments import Score
from taskshield.core.decisions import CallVerdict, Decision, Finding
from taskshield.core.instructions import Objective, TaintedDirective, Task


def report_json(outcome: Outcome) -> str:
    """The document."""
    return json.dumps(
        {
            "file": outcome.file,
            "format": outcome.format,
            "judge": outcome.judge,
            "verdict": outcome.verdict,
            "tasks": [_task(task) for task in outcome.tasks],
            "objectives": [_objective(objective) for objective in outcome.objectives],
            "tainted": [_tainted(directive) for directive in outcome.tainted.values()],
            "steps": [_step(decision) for decision in outcome.decisions],
            "counters": asdict(outcome.counters),
            "usage": asdict(outcome.usage),
            "elapsed_ms": _milliseconds(outcome.elapsed_ms),
        },
        ensure_ascii=True,
        allow_nan=False,
        indent=2,
    )


def _task(task: Task) -> dict[str, object]:
    grant = None if task.grant is None else asdict(task.grant)
    origin = task.instruction.origin.message
    return {"id": task.id, "text": task.text, "grant": grant, "message": origin}


def _objective(objective: Objective) -> dict[str, object]:
    return {"id": objective.id, "text": objective.text}


def _tainted(directive: TaintedDirective) -> dict[str, object]:
    instruction = directive.instruction
    return {"id": directive.id, "text": instruction.text, "message": instruction.origin.message}


def _step(decision: Decision) -> dict[str, object]:
    trace = decision.case.trace
    outage = decision.outage
    return {
        "id": decision.id,
        "index": decision.case.index,
        "level": decision.case.message.level.value,
        "action": decision.action,
        "authorisation": decision.authorisation,
        "allowed": decision.allowed,
        "check": decision.check,
        "outage": None if outage is None else asdict(outage),
        "unreadable": list(decision.unreadable),
        "findings": [_finding(finding) for finding in decision.findings],
        "calls": [_call(verdict) for verdict in decision.calls],
        "feedback": decision.feedback,
        "judge": trace.judge,
        "prompt": trace.prompt,
        "cached": trace.cached,
        "elapsed_ms": _milliseconds(decision.elapsed_ms),
    }


def _finding(finding: Finding) -> dict[str, object]:
    origin = finding.instruction.origin
    return {
        "instruction": finding.instruction.text,
        "call_id": finding.call_id,
        "tool": origin.tool,
        "tier": None if finding.tier is None else finding.tier.value,
        "origin": asdict(origin),
        "scores": [_score(score, "task") for score in finding.scores],
        "objective_scores": [_score(score, "objective") for score in finding.objective_scores],
        "taint": None if finding.taint is None else _score(finding.taint, "directive"),
        "total": finding.total,
        # Always finite, as JSON demands: the engine refuses any other threshold of a judge.
        "epsilon": finding.epsilon,
        "aligned": finding.aligned,
        "authorisation": finding.authorisation,
        "contradictions": [asdict(each) for each in finding.contradictions],
        "action": finding.action,
        "reason": finding.reason,
    }


def _score(score: Score, target: str) -> dict[str, object]:
    return {target: score.target, "score": score.value, "reason": score.reason}


def _call(verdict: CallVerdict) -> dict[str, object]:
    return {
        "id": verdict.call.id,
        "tool": verdict.call.name,
        "tier": verdict.tier.value,
        "authorisation": verdict.authorisation,
        "action": verdict.action,
        "allowed": verdict.allowed,
    }


def _milliseconds(value: float) -> float:
    return round(value, 3)
