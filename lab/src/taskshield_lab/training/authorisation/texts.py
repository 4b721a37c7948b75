"""The texts that this reading sees: the user's words, and a tool or a call in plain text.

Nothing of the surroundings is shown: what helps on our own data there misleads on that of others.
The values of arguments may be an attacker's words, so they are cut short.
"""

from collections.abc import Iterable, Sequence

from taskshield.core.tools import ToolSpec
from taskshield.judges.embedded.evidence.argument_values import ArgumentValue
from taskshield.judges.embedded.evidence.conversation_index import tool_name_words
from taskshield.judges.embedded.evidence.provenance import Owner

_NEWEST = 420
_OLDER = 260
_QUESTION = 180
_DESCRIPTION = 120
_VALUES = 9
_VALUE_HEAD, _VALUE_END = 70, 15
_ARGUMENTS = 360
_MARKS: dict[Owner, str] = {"user": "said", "data": "read", "directive": "read", "new": "new"}


def said(words: Sequence[str], question: str = "") -> str:
    """The user's messages, the newest in full, and the agent's question that it answers."""
    *older, newest = words or ("",)
    left = _OLDER
    before: list[str] = []
    for text in reversed(older):
        if left <= 0:
            break
        before.insert(0, _ends(text, left))
        left -= len(before[0])
    parts = [f"before: {' / '.join(before)}"] if before else []
    if question:
        parts.append(f"agent: {_end(question, _QUESTION)}")
    parts.append(f"now: {_ends(newest, _NEWEST)}")
    return " | ".join(parts)


def tool(spec: ToolSpec) -> str:
    """A tool alone."""
    described = _one_line(spec.description)
    if len(described) > _DESCRIPTION:
        described = described[:_DESCRIPTION] + "…"
    return f"{tool_name_words(spec.name)}: {described}"


def plain_call(spec: ToolSpec, values: Iterable[ArgumentValue]) -> str:
    """A call with its arguments."""
    return _call(spec, [f"{one.path}: {_short(one.text)}" for one in values])


def marked_call(spec: ToolSpec, values: Iterable[tuple[ArgumentValue, Owner]]) -> str:
    """A call with its arguments and whether the user said them, or they were read, or are new."""
    return _call(
        spec,
        [
            f"{one.path}: {_short(one.text)}" + ("" if one.trivial else f" ({_MARKS[owner]})")
            for one, owner in values
        ],
    )


def _call(spec: ToolSpec, arguments: Sequence[str]) -> str:
    return f"{tool(spec)} with {'; '.join(arguments[:_VALUES])[:_ARGUMENTS] or 'nothing'}"


def _short(value: str) -> str:
    line = _one_line(value)
    if len(line) <= _VALUE_HEAD + _VALUE_END + 5:
        return line
    return f"{line[:_VALUE_HEAD]} … {line[-_VALUE_END:]}"


def _ends(text: str, limit: int) -> str:
    """The beginning and the end of a text that is too long."""
    line = _one_line(text)
    if len(line) <= limit:
        return line
    return f"{line[: limit // 2]} … {line[-limit // 2 :]}"


def _end(text: str, limit: int) -> str:
    """The end of a text; a question stands last."""
    line = _one_line(text)
    return line if len(line) <= limit else f"… {line[-limit:]}"


def _one_line(text: str) -> str:
    return " ".join(text[:20_000].split())
