"""The texts that the model reads. Training and serving render them with the same functions."""

from taskshield.core.messages import ToolCall
from taskshield.core.tools import ToolSpec
from taskshield.judges.embedded.evidence.call_evidence import CallEvidence, SourcedValue
from taskshield.judges.embedded.evidence.conversation_index import tool_name_words
from taskshield.judges.embedded.evidence.explanation import explained_share
from taskshield.judges.embedded.text.segments import segments

Pair = tuple[str, str]
"""Two texts that the model reads side by side."""

_REQUEST = 420
_INSTRUCTION = 360
_CALL = 360
_VALUE = 100
_VALUES = 10
_DESCRIPTION = 90
_SNIPPET = 110
_SUSPECT = 220
_TOOL = 60
_TOLD = 280
_PIECES = 40
"""Sentences of a request that are looked at, from its beginning and from its end."""


def asks(instruction: str, evidence: CallEvidence) -> Pair:
    """Does this instruction ask for this call?"""
    return _excerpt(instruction, evidence.call, _INSTRUCTION), _described(evidence, tagged=False)


def asks_inputs(evidence: CallEvidence) -> list[Pair]:
    """Do words in the data ask for this call, each of them, and does the user for this plan?"""
    asked = [asks(text, evidence) for text in evidence.texts]
    if asked and evidence.kind == "plan":
        asked.append(asks(request(evidence), evidence))
    return asked


def serves(evidence: CallEvidence) -> Pair:
    """Does the call serve the user, given all that is known about it?"""
    asked = request(evidence)
    if evidence.delegated:
        asked = f"[as told by {clipped(evidence.delegated, 60)}] {asked}"
    told = evidence.suspects[0].directive.text if evidence.suspects else ""
    known = [
        _described(evidence, tagged=True),
        f"before: {' > '.join(evidence.steps) or 'nothing'}",
        f"data: {clipped(evidence.snippet, _SNIPPET) or 'none'}",
        f"told by data: {_excerpt(told, evidence.call, _SUSPECT) or 'nothing'}",
    ]
    if evidence.related:
        related = _excerpt(evidence.related[0].directive.text, evidence.call, _SUSPECT)
        known.append(f"aside in data: {related}")
    return asked, " | ".join(known)


def heading(tool: str, request: str) -> str:
    """What stands before an output: the tool, in words, and what the user wants.

    A request in the output may be part of the user's task or foreign to it. Its words alone do not
    say which.

    Args:
        tool: Empty where it is not known.
        request: The user's words; empty where there are none, or where the model must not see them.
    """
    if not request or request.isspace():
        return tool
    return f"{clipped(tool, _TOOL)} | user: {_ends(request, _TOLD)}"


def request(evidence: CallEvidence) -> str:
    """The user's words; of a long request, the sentences that are closest to the call."""
    return _excerpt(evidence.request, evidence.call, _REQUEST)


def _excerpt(text: str, call: ToolCall, limit: int) -> str:
    """The sentences of a text that are closest to a call, in their order."""
    if len(text) <= limit:
        return " ".join(text.split())
    pieces = [segment.text for segment in segments(text)]
    if not pieces:  # only signs
        return clipped(" ".join(text.split()), limit)
    pieces = pieces[:_PIECES] + pieces[_PIECES:][-_PIECES:]
    weight = [
        explained_share(call, piece).share + 0.01 * number / len(pieces)
        for number, piece in enumerate(pieces)
    ]
    ranked = sorted(range(len(pieces)), key=lambda number: -weight[number])
    kept, room = ranked[:1], limit - len(pieces[ranked[0]])
    for number in ranked[1:]:
        if len(pieces[number]) < room:
            kept.append(number)
            room -= len(pieces[number]) + 1
    return clipped(" ".join(pieces[number] for number in sorted(kept)), limit)


def clipped(text: str, limit: int) -> str:
    """The beginning of a text, with a sign where it was cut."""
    return text if len(text) <= limit else text[:limit] + "…"


def _ends(text: str, limit: int) -> str:
    """The beginning and the end of a text that is too long."""
    words = " ".join(text.split())
    if len(words) <= limit:
        return words
    return f"{words[: limit // 2]} … {words[-limit // 2 :]}"


def _described(evidence: CallEvidence, *, tagged: bool) -> str:
    if evidence.kind == "plan":
        head = "says"
    else:
        head = f"{tool_name_words(evidence.call.name)} ({_purpose(evidence.spec)})"
    values = "; ".join(_argument(one, tagged=tagged) for one in evidence.values[:_VALUES])
    return clipped(f"{head}: {values}", _CALL)


def _purpose(spec: ToolSpec | None) -> str:
    return "" if spec is None else clipped(" ".join(spec.description.split()), _DESCRIPTION)


def _argument(one: SourcedValue, *, tagged: bool) -> str:
    text = f"{one.value.path} = {clipped(one.value.text, _VALUE)}"
    if not tagged or one.value.trivial:
        return text
    also = "+directive" if one.found.also_directive else "+near" if one.near else ""
    instead = ", not the user's" if one.instead else ""
    return f"{text} [{one.found.owner}{also}{instead}]"
