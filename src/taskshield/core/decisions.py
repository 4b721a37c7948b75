"""Decisions, and the case that each is made from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from taskshield.core.assessments import AssessedInstruction, Contradiction, Score, Trace
from taskshield.core.errors import OutageKind
from taskshield.core.instructions import Instruction, Objective, TaintedDirective, TaskSet
from taskshield.core.messages import Message, ToolCall
from taskshield.core.policy import Authorisation, Policy
from taskshield.core.tools import Tier

Action = Literal[
    "allow", "observe", "annotate", "redact", "withhold", "revise", "escalate", "block"
]
"""What becomes of a message.

- allow: it passes as it is
- observe: it passes although it is misaligned; policy only wants a report
- annotate: tool output passes, followed by feedback
- redact: tool output passes without its misaligned spans
- withhold: tool output is replaced by a note
- revise: not executed; the agent gets the feedback and may try again
- escalate: not executed until a person approves
- block: not executed
"""

LET_THROUGH: frozenset[Action] = frozenset({"allow", "observe", "annotate", "redact", "withhold"})

Check = Literal["executed", "skipped", "failed"]
"""Whether a judge checked the message.

- executed: a judge did
- skipped: there was nothing in it to check
- failed: a judge should have, but there was an outage
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """Why a judge gave no verdict."""

    kind: OutageKind
    detail: str
    """The error of the judge, for people. It holds no text of the conversation."""


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
    """The tainted directive that explains it better than any task, if there is one."""
    total: float
    """Sum over the user's tasks."""
    epsilon: float
    """The threshold: the instruction is misaligned if `total` is not above it."""
    aligned: bool
    """Whether it serves the user's tasks, and nothing that the user said rules it out."""
    approved: bool
    """Whether a person approved this very call."""
    action: Action
    reason: str
    """One sentence."""
    authorisation: Authorisation = "unasked"
    """How far the user's words carry it. Servers of 0.1 do not say."""
    contradictions: tuple[Contradiction, ...] = ()
    """What the user or operator ruled out, and it does all the same."""


def weakest(findings: Iterable[Finding]) -> Authorisation | None:
    """The weakest authorisation of these findings; None where there are none."""
    found = (finding.authorisation for finding in findings)
    return max(found, key=get_args(Authorisation).index, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallVerdict:
    """The action on one tool call, and the two sides that policy can weigh."""

    call: ToolCall
    tier: Tier
    """The risk."""
    action: Action
    authorisation: Authorisation | None = None
    """How far the user's words carry it; None where no judge could say."""

    @property
    def allowed(self) -> bool:
        """Whether the call may run."""
        return self.action in LET_THROUGH


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """All that a decision depends on. The same case always gives the same decision."""

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
    """Feedback rounds used since the user last spoke."""
    refused: frozenset[str] = frozenset()
    """Fingerprints of calls and plans that were refused since the user last spoke."""
    approved: frozenset[str] = frozenset()
    """Fingerprints of calls and plans that a person approved since the user last spoke."""
    outage: Outage | None = None
    elapsed_ms: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The result of checking one message."""

    action: Action
    findings: tuple[Finding, ...]
    """All instructions of the message, aligned ones too."""
    calls: tuple[CallVerdict, ...]
    """One for each tool call: the aligned calls of a message run even if another is blocked."""
    feedback: str | None
    """For the agent: what is misaligned, why that is a risk, and the user's tasks."""
    content: str
    """What to give the agent: the text itself, the annotated output, or the feedback."""
    round: int | None
    """Number of the feedback round, if the decision uses one."""
    case: Case
    """All that the decision was made from."""

    @property
    def id(self) -> str:
        """Unique id of the decision."""
        return self.case.id

    @property
    def allowed(self) -> bool:
        """Whether the message passes and all its calls may run."""
        return self.action in LET_THROUGH

    def verdict_on(self, call_id: str) -> CallVerdict:
        """The verdict on one of the message's calls."""
        (found,) = (verdict for verdict in self.calls if verdict.call.id == call_id)
        return found

    @property
    def misaligned(self) -> tuple[Finding, ...]:
        """The findings that do not serve the user's tasks."""
        return tuple(finding for finding in self.findings if not finding.aligned)

    @property
    def stopped(self) -> tuple[Finding, ...]:
        """The findings that are not let through; policy may stop aligned ones, too."""
        return tuple(each for each in self.findings if each.action not in LET_THROUGH)

    @property
    def authorisation(self) -> Authorisation | None:
        """The weakest of the findings'; None where nothing was judged."""
        return weakest(self.findings)

    @property
    def tier(self) -> Tier | None:
        """The highest risk tier among the calls; None without calls."""
        return max((each.tier for each in self.calls), key=list(Tier).index, default=None)

    @property
    def judge(self) -> str:
        """Name of the judge that gave the verdict."""
        return self.case.trace.judge

    @property
    def check(self) -> Check:
        """Whether a judge checked the message."""
        return self.case.check

    @property
    def unreadable(self) -> tuple[str, ...]:
        """Kinds of parts (image, audio, ...) that no judge can read."""
        return self.case.message.unreadable

    @property
    def outage(self) -> Outage | None:
        """Set where a judge failed."""
        return self.case.outage

    @property
    def elapsed_ms(self) -> float:
        """How long the check took."""
        return self.case.elapsed_ms
