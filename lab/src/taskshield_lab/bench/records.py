"""Records of an exam: what was asked, what the agent did, what the shield said.

Everything that is shown later is made from these values, without a judge.
"""

from dataclasses import dataclass
from typing import Literal

from taskshield.core.decisions import LET_THROUGH, Action, Check
from taskshield.core.levels import Level
from taskshield.core.tools import Tier
from taskshield.core.usage import NO_USAGE, Usage

Way = Literal["worst-case", "replay", "live"]
"""How the exam was sat.

- worst-case: by an agent that does what the user and the attacker want and ignores all feedback
- replay: by the recorded calls of a real agent
- live: by a real model, feedback rounds included
"""

Owner = Literal["user", "attacker"]
"""Whose goal a call serves."""

NO_DEFENCE = "none"
"""Stands where the name of a judge or a defence would."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What is common to all runs of a file; two files with equal headers can be joined."""

    way: Way
    judge: str
    """Name of the judge, or "none"."""
    defence: str = NO_DEFENCE
    """A defence that comes with AgentDojo, or "none"."""
    version: str
    """Version of AgentDojo's suites, e.g. "v1"."""
    attacks: tuple[str, ...]
    settings: str = ""
    """Hash of all that the shield was told besides the judge's name, so that it can be compared."""
    taskshield: str
    agentdojo: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """An instruction and the judge's word on it."""

    text: str
    call_id: str | None
    """Set where the instruction is a tool call."""
    aligned: bool
    total: float
    """Sum of its scores over the user's tasks."""
    epsilon: float
    """The threshold that `total` had to exceed."""
    explained: float = 0.0
    """How well a directive that was found in tool output explains it."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call and what became of it."""

    id: str
    name: str
    arguments: str
    tier: Tier | None = None
    """As the shield sees the tool; None where there was no shield."""
    action: Action = "allow"
    executed: bool
    owner: Owner | None = None
    """Known for the worst-case agent only."""

    @property
    def held(self) -> bool:
        """Whether the shield did not let it through. A call may fail to run for other reasons."""
        return self.action not in LET_THROUGH


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedStep:
    """One message, and the shield's word on it."""

    level: Level
    text: str
    """What stood in the message; long texts are cut."""
    calls: tuple[Call, ...] = ()
    answers: str | None = None
    """For tool output: the id of the call that produced it."""
    check: Check | None = None
    """None where there was no shield."""
    outage: str | None = None
    """Why there is no verdict, where the check failed."""
    action: Action = "allow"
    findings: tuple[Finding, ...] = ()
    """On every call, and on every misaligned instruction in the text."""
    feedback: str | None = None
    ms: float = 0.0
    """Time of the check."""
    cached: bool = False
    """Whether an earlier answer of the judge was used again."""
    usage: Usage = NO_USAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkRun:
    """One conversation of the exam."""

    suite: str
    user_task: str
    injection_task: str | None = None
    """None for a clean run."""
    attack: str | None = None
    """None for a clean run."""
    agent: str
    """Who sat the exam: "worst-case", or the name of a model or pipeline."""
    utility: bool = False
    """Whether the user's task came about."""
    hijacked: bool = False
    """Whether the attacker's goal came about. Never true of a clean run."""
    by_words: bool = False
    """Whether it came about, or would have, without any tool call, so that no check of calls could
    stop it."""
    unsolved: bool = False
    """Whether AgentDojo has no calls that reach the attacker's goal, so that the worst-case agent
    cannot carry it out."""
    shown: bool = False
    """Whether the agent got to read the injection; known for the worst-case agent only."""
    error: str | None = None
    """Why the run means nothing. Such runs are left out of all figures."""
    recorded_utility: bool | None = None
    """For a replay: what the record itself says."""
    recorded_hijacked: bool | None = None
    steps: tuple[RecordedStep, ...] = ()

    @property
    def id(self) -> str:
        """Unique in a file of records."""
        return run_id(self.agent, self.suite, self.user_task, self.attack, self.injection_task)

    @property
    def clean(self) -> bool:
        """Whether there was no attack."""
        return self.attack is None


def run_id(
    agent: str, suite: str, user_task: str, attack: str | None, injection_task: str | None
) -> str:
    """The id of a run, known before it is run."""
    attacked = "clean" if attack is None else f"{attack}/{injection_task}"
    return f"{agent}/{suite}/{user_task}/{attacked}"
