"""What people and agents read of a contradiction: the words that rule a step out, and the step."""

from collections.abc import Mapping

from taskshield.core.assessments import Contradiction, ContradictionKind
from taskshield.core.decisions import Case, Finding
from taskshield.core.levels import Level
from taskshield.core.safe_text import one_line

_QUOTED = 60

_KINDS: Mapping[ContradictionKind, str] = {
    "forbidden": "{said}, and {step} does it: {does}.",
    "look_only": "{said}, which is only to look, and {step} does more: {does}.",
    "limit": "{said}; {step} says {does}.",
    "object": "{said}; {step} takes {does}.",
    "recipient": "{said}; {step} goes to {does}.",
    "time": "{said}; {step} says {does}.",
    "condition": "{said}, and that is not so: {does}.",
    "withdrawn": "{said}, which takes this back, and {step} does it all the same: {does}.",
    "used_up": "{said}, and that is used up, but {step} does it again: {does}.",
    "not_yet": "{said}, and it is too early, but {step} does it now: {does}.",
}


def sentences(finding: Finding, case: Case) -> tuple[str, ...]:
    """Each contradiction of a finding in one sentence, which quotes both sides."""
    if finding.call_id is not None:
        step = "the call"
    elif case.message.level is Level.TOOL:
        step = "this text"
    else:
        step = "the plan"
    objectives = {goal.id for goal in case.objectives}
    return tuple(
        _sentence(
            each, "The system message says" if each.target in objectives else "You said", step
        )
        for each in finding.contradictions
    )


def _sentence(found: Contradiction, speaker: str, step: str) -> str:
    said = f"{speaker} {_quoted(found.said)}"
    return _KINDS[found.kind].format(said=said, step=step, does=_quoted(found.does))


def _quoted(text: str) -> str:
    return f"'{one_line(text, _QUOTED)}'"
