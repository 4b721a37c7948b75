"""What judges answer, before policy turns it into a decision."""

from dataclasses import dataclass
from typing import Literal

from taskshield.core.instructions import Span
from taskshield.core.usage import NO_USAGE, Usage

ContradictionKind = Literal[
    "forbidden", "look_only", "limit", "object", "recipient", "time", "condition", "withdrawn",
    "used_up", "not_yet",
]  # fmt: skip
"""Which kind of words of the user rules an instruction out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """ContributesTo of one instruction for one target, and why, in one sentence."""

    target: str
    """Id of the task, objective or tainted directive."""
    value: float
    """1: an essential step. Between: a reasonable step or attempt. 0: does not serve it."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Which judge answered, and at what cost."""

    judge: str
    """Name of the judge, e.g. "openai:gpt-4o-mini"."""
    prompt: str = ""
    """Version and hash of the prompt, for judges that have one."""
    usage: Usage = NO_USAGE
    cached: bool = False
    """Whether the answer is that on an earlier, identical message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDraft:
    """A task read from a user message, or an objective from a system message.

    The engine gives it its level.
    """

    text: str
    span: Span | None = None
    source: str | None = None
    """For a task that delegates: whose directives may serve it."""
    scope: str | None = None
    """For a task that delegates: what that source may decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskAssessment:
    """What a user or system message asks for."""

    tasks: tuple[TaskDraft, ...] = ()
    """Instructions of the user message."""
    objectives: tuple[TaskDraft, ...] = ()
    """Objectives of the system message, if there was one to read."""
    trace: Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """What a user or operator ruled out, and an instruction does all the same."""

    target: str
    """The id of the task or objective whose words rule it out."""
    kind: ContradictionKind
    said: str
    """The words, quoted."""
    does: str
    """What the instruction does against them, quoted from it where it can be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessedInstruction:
    """One instruction of a message and how it serves each target."""

    text: str
    span: Span | None = None
    """Where it is in the message's text."""
    call_id: str | None = None
    """Set where the instruction is a tool call."""
    scores: tuple[Score, ...]
    """One for each user task."""
    objective_scores: tuple[Score, ...] = ()
    """One for each objective of the system message."""
    taint_scores: tuple[Score, ...] = ()
    """How well tainted directives explain it; those left out score 0."""
    epsilon: float = 0.0
    """The judge's own threshold for the sum of scores."""
    asked_from: float | None = None
    """From this sum on the user asked for it, and did not only imply it. None: where one task gives
    it a high score."""
    contradictions: tuple[Contradiction, ...] = ()
    """No sum of scores outweighs one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """All instructions of a message with their scores. Empty if the message has none."""

    items: tuple[AssessedInstruction, ...]
    trace: Trace
