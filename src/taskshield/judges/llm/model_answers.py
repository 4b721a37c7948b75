"""Reads a model's answer: finds the verdict with the seal of the request, and checks all of it.

Nothing is guessed. An answer that is not a complete verdict raises `AnswerError`. Its text tells
the model what to correct, and never quotes the answer.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from taskshield.core.assessments import ContradictionKind, Score
from taskshield.core.instructions import Span
from taskshield.core.quotations import find_quote
from taskshield.judges.llm.fence import Fence

_LONGEST_ANSWER = 200_000
_MOST_ATTEMPTS = 200
_LONGEST_INSTRUCTION = 8_000
"""Stored instructions are part of later requests, so their length must be limited."""


class AnswerError(Exception):
    """The answer is not a verdict."""


_Instruction = Annotated[str, Field(pattern=r"\S", max_length=_LONGEST_INSTRUCTION)]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class TaskEntry(_Part):
    """A task of a user message or an objective of a system message."""

    quote: str
    instruction: _Instruction
    source: str | None = None
    scope: str | None = None


class ScoreEntry(_Part):
    """A score for one target."""

    target: str
    score: float = Field(ge=0, le=1)
    reason: str


class ContradictionEntry(_Part):
    """What rules an instruction out."""

    target: str
    kind: ContradictionKind
    said: str
    does: _Instruction


class ItemEntry(_Part):
    """Scores of a given item."""

    item: str
    scores: list[ScoreEntry]
    contradictions: list[ContradictionEntry]


class FoundEntry(_Part):
    """An instruction found in text."""

    quote: str
    instruction: _Instruction
    scores: list[ScoreEntry] = []
    contradictions: list[ContradictionEntry] | None = None


class TasksAnswer(_Part):
    """Answer to a request to read a user message, a system message, or both."""

    tasks: list[TaskEntry] | None = None
    objectives: list[TaskEntry] | None = None


class JudgeAnswer(_Part):
    """Answer to a request to judge."""

    found: list[FoundEntry] | None = None
    items: list[ItemEntry] | None = None


Answer = TypeVar("Answer", bound=BaseModel)
Entry = TypeVar("Entry", bound=BaseModel)


def parse(text: str, kind: type[Answer], fence: Fence) -> Answer:
    """The one object in the text with the seal, as an answer of this kind."""
    if len(text) > _LONGEST_ANSWER:
        raise AnswerError("the answer is too long")
    sealed = [value for value in _objects(text) if value.get("seal") == fence.seal]
    if len(sealed) != 1:
        raise AnswerError("there must be exactly one JSON object with the seal of this request")
    try:
        return kind.model_validate(sealed[0])
    except ValidationError as error:
        places = {".".join(map(str, each["loc"])): each["type"] for each in error.errors()}
        listed = "; ".join(f"{place}: {problem}" for place, problem in places.items())
        raise AnswerError(f"these fields are wrong: {listed[:500]}") from None


def required(entries: list[Entry] | None, field: str) -> list[Entry]:
    """A required list. A missing list is not an empty one: the model did not look."""
    if entries is None:
        raise AnswerError(f"`{field}` is missing")
    return entries


def scores_for(
    entries: Iterable[ScoreEntry], targets: Iterable[str], fence: Fence, *, all_of_them: bool
) -> tuple[Score, ...]:
    """The scores with the labels of these targets, in the order of the targets."""
    given: dict[str, ScoreEntry] = {}
    for entry in entries:
        id = fence.id_of(entry.target)
        if id is None:
            raise AnswerError("a score names a target that is not a label of this request")
        if id in given:
            raise AnswerError("a target is scored twice")
        given[id] = entry
    wanted = list(targets)
    if all_of_them and not given.keys() >= set(wanted):
        raise AnswerError("every task and every objective needs a score")
    return tuple(
        Score(target=id, value=given[id].score, reason=given[id].reason)
        for id in wanted
        if id in given
    )


def locate(quote: str, text: str) -> Span | None:
    """The first place of the quoted words in the text; differences in spacing are ignored."""
    return next(find_quote(quote, text), None)


def _objects(text: str) -> Iterator[Mapping[str, object]]:
    """All outermost JSON objects in the text."""
    decoder = json.JSONDecoder()
    position = text.find("{")
    for _ in range(_MOST_ATTEMPTS):
        if position < 0:
            return
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            yield value
        position = text.find("{", end)


def tasks_schema(*, tasks: bool, objectives: bool) -> Mapping[str, object]:
    """JSON schema of `TasksAnswer` for these parts, in the subset that strict modes support."""
    nullable = {"type": ["string", "null"]}
    fields: dict[str, object] = {"seal": _TEXT}
    if tasks:
        entry = _object(quote=_TEXT, instruction=_TEXT, source=nullable, scope=nullable)
        fields["tasks"] = _list(entry)
    if objectives:
        fields["objectives"] = _list(_object(quote=_TEXT, instruction=_TEXT))
    return _object(**fields)


def judge_schema(*, text: bool, items: bool, scored: bool = True) -> Mapping[str, object]:
    """JSON schema of `JudgeAnswer` for a request with these parts."""
    # The reason comes first: models write in this order, and a score after its reason is better.
    kinds = {"type": "string", "enum": list(get_args(ContradictionKind))}
    ruled_out = _object(target=_TEXT, kind=kinds, said=_TEXT, does=_TEXT)
    scores = {
        "contradictions": _list(ruled_out),
        "scores": _list(_object(target=_TEXT, reason=_TEXT, score={"type": "number"})),
    }
    fields: dict[str, object] = {"seal": _TEXT}
    if text:
        fields["found"] = _list(
            _object(quote=_TEXT, instruction=_TEXT, **(scores if scored else {}))
        )
    if items:
        fields["items"] = _list(_object(item=_TEXT, **scores))
    return _object(**fields)


_TEXT = {"type": "string"}


def _list(of: object) -> dict[str, object]:
    return {"type": "array", "items": of}


def _object(**fields: object) -> dict[str, object]:
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }
