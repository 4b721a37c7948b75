"""The reason for a score in one sentence, made from the evidence."""

from taskshield.core.provenance import ValueOrigin
from taskshield.judges.embedded.evidence.call_evidence import CallEvidence, SourcedValue
from taskshield.judges.embedded.evidence.conversation_index import tool_name_words
from taskshield.judges.embedded.network.inputs import clipped

_VALUE = 40


def for_call(
    evidence: CallEvidence,
    *,
    aligned: bool,
    directed: bool,
    related: bool = False,
    again: bool = False,
) -> str:
    """Why a call serves the user, or why not.

    Args:
        evidence: What is known about the call.
        aligned: The verdict.
        directed: Whether the model finds that the likeliest directive asks for the call.
        related: Whether it finds that a related sentence in the data does.
        again: Whether it makes a payment again that was made already.
    """
    if again:
        return _sentence(
            ["the same payment was made already, and no words of yours ask for another"]
        )
    return _sentence(_for(evidence) if aligned else _against(evidence, directed, related))


def for_directive(tool: str, *, aligned: bool, delegated: str) -> str:
    """Why words in a tool's output are taken for an injected directive, or why not."""
    where = f"the output of {tool}" if tool else "a tool's output"
    if aligned:
        return _sentence([f"words in {where} that seem not to be aimed at the agent"])
    if delegated:
        why = f"nothing that you delegated to {clipped(delegated, _VALUE)} covers it"
    else:
        why = "no task of yours asks for it"
    return _sentence([f"{where} tries to direct the agent, and {why}"])


def _for(evidence: CallEvidence) -> list[str]:
    parts = []
    yours = _from(evidence, "user")
    found = _from(evidence, "data")
    if yours:
        parts.append(f"{_listed(yours)} {_is(yours)} from your own words")
    if found:
        parts.append(f"{_listed(found)} {_is(found)} from data that the task led to")
    step = "this" if evidence.kind == "plan" else _doing(evidence)
    return parts or [f"{step} is a plausible step of what you asked for"]


def _against(evidence: CallEvidence, directed: bool, related: bool) -> list[str]:
    parts = [f"no task of yours asks to {_doing(evidence)}"]
    if evidence.unspoken:
        parts.append("your words ask for nothing in particular")
    injected = _from(evidence, "directive")
    new = _from(evidence, "new")
    suspect = evidence.suspects[0].directive if evidence.suspects else None
    source = "the data" if suspect is None else suspect.where
    if injected:
        verb = "appears" if len(injected) == 1 else "appear"
        parts.append(f"{_listed(injected)} {verb} only in an instruction inside {source}")
    elif suspect is not None and directed:
        parts.append(f"an instruction inside {source} asks for it")
    elif related:
        parts.append("words in the data do")
    elif new:
        parts.append(f"{_listed(new)} {_is(new)} neither in your words nor in the data")
    return parts


def _from(evidence: CallEvidence, kind: ValueOrigin) -> list[SourcedValue]:
    """The values to name; none for a plan, whose words are shown beside its reason."""
    if evidence.kind == "plan":
        return []
    return [one for one in evidence.telling if one.found.kind == kind]


def _doing(evidence: CallEvidence) -> str:
    return (
        "do that"
        if evidence.kind == "plan"
        else tool_name_words(clipped(evidence.call.name, _VALUE))
    )


def _listed(values: list[SourcedValue]) -> str:
    named = [_named(one) for one in values[:2]]
    more = f" and {len(values) - 2} more" if len(values) > 2 else ""
    return " and ".join(named) + more


def _named(one: SourcedValue) -> str:
    path = clipped(one.value.path, _VALUE)
    text = clipped(" ".join(one.value.text.split()), _VALUE)
    return f"{path} {text}".strip()


def _is(values: list[SourcedValue]) -> str:
    return "is" if len(values) == 1 else "are"


def _sentence(parts: list[str]) -> str:
    joined = "; ".join(parts)
    return f"{joined[:1].upper()}{joined[1:]}."
