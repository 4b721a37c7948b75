"""Decisions, and the case that each was made from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from taskshield.core.assessments import AssessedInstruction, Score, Trace
from taskshield.core.errors import OutageKind
from taskshield.core.instructions import Instruction, Objective, TaintedDirective, TaskSet
from taskshield.core.messages import Message, ToolCall
from taskshield.core.policy import Policy
from taskshield.core.tools import Tier

Action = Literal[
    "allow", "observe", "annotate", "redact", "withhold", "revise", "escalate", "block"
]
"""What becomes of a message.

- allow: it goes on as it is
- observe: it goes on, though misaligned; policy only wants to know
- annotate: tool output goes on, followed by feedback
- redact: tool output goes on without its misaligned spans
- withhold: tool output is replaced by a note
- revise: not executed; the agent gets the feedback and may try again
- escalate: not executed until a person approves
- block: not executed, for good
"""

LET_THROUGH: frozenset[Action] = frozenset({"allow", "observe", "annotate", "redact", "withhold"})

Check = Literal["executed", "skipped", "failed"]
"""Whether a judge looked at the message.

- executed: it did
- skipped: there was nothing in it to check
- failed: it should have, but there was an outage
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """A judge that gave no verdict."""

    kind: OutageKind
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One instruction and the verdict on it."""

    instruction: Instruction
    call_id: str | None
    """Set where the instruction is a tool call."""
    tier: Tier | None
    """Risk tier of the called tool."""
    scores: tuple[Score, ...]
    """One for each user task."""
    objective_scores: tuple[Score, ...]
    taint: Score | None
    """The tainted directive that explains it best, if any does."""
    total: float
    """Sum over the user's tasks."""
    epsilon: float
    """The threshold that `total` had to exceed."""
    aligned: bool
    approved: bool
    """Whether a person approved this very call."""
    action: Action
    reason: str
    """One sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallVerdict:
    """What becomes of one tool call."""

    call: ToolCall
    tier: Tier
    action: Action

    @property
    def allowed(self) -> bool:
        """Whether the call may run."""
        return self.action in LET_THROUGH


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Everything a decision depends on. The same case always gives the same decision."""

    id: str
    message: Message
    index: int
    """Number of the message in its session."""
    policy: Policy
    check: Check
    tasks: TaskSet = TaskSet()
    objectives: tuple[Objective, ...] = ()
    tainted: tuple[TaintedDirective, ...] = ()
    assessed: tuple[AssessedInstruction, ...] = ()
    trace: Trace
    tiers: Mapping[str, Tier] = field(default_factory=dict)
    """Risk tier of each called tool, by name."""
    answered: ToolCall | None = None
    """For tool output: the call that produced it."""
    rounds_used: int = 0
    """Feedback rounds already spent on this turn of the user."""
    refused: frozenset[str] = frozenset()
    """Fingerprints of what was refused earlier in this turn."""
    approved: frozenset[str] = frozenset()
    """Fingerprints of calls that a person approved in this turn."""
    outage: Outage | None = None
    elapsed_ms: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The answer to one message."""

    action: Action
    findings: tuple[Finding, ...]
    """Every instruction found, aligned ones too."""
    calls: tuple[CallVerdict, ...]
    """One for each tool call, so that the aligned ones of a message survive."""
    feedback: str | None
    """For the agent: what is misaligned, why it is a risk, what the user's tasks are."""
    content: str
    """What to give the agent: the text, the annotated output, or the feedback."""
    round: int | None
    """Which feedback round this is, where it is one."""
    case: Case
    """What the decision was made from."""

    @property
    def id(self) -> str:
        """Unique id of the decision."""
        return self.case.id

    @property
    def allowed(self) -> bool:
        """Whether the message goes on, and all its calls may run."""
        return self.action in LET_THROUGH

    def verdict_on(self, call_id: str) -> CallVerdict:
        """What becomes of one of the calls that the decision is about."""
        (found,) = (verdict for verdict in self.calls if verdict.call.id == call_id)
        return found

    @property
    def misaligned(self) -> tuple[Finding, ...]:
        """The findings that do not serve the user's tasks."""
        return tuple(finding for finding in self.findings if not finding.aligned)

    @property
    def judge(self) -> str:
        """Who judged."""
        return self.case.trace.judge

    @property
    def check(self) -> Check:
        """Whether a judge looked at the message."""
        return self.case.check

    @property
    def unreadable(self) -> tuple[str, ...]:
        """Kinds of parts (images, audio, ...) that no judge could read."""
        return self.case.message.unreadable

    @property
    def outage(self) -> Outage | None:
        """Set where a judge failed."""
        return self.case.outage

    @property
    def elapsed_ms(self) -> float:
        """How long the check took."""
        return self.case.elapsed_ms
