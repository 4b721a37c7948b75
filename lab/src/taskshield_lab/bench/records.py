"""Records of a benchmark: the task, what the agent did, and the decisions of the shield.

All tables and plots are made from these values, without a judge.
"""

from dataclasses import dataclass
from typing import Literal

from taskshield.core.decisions import LET_THROUGH, Action, Check
from taskshield.core.levels import Level
from taskshield.core.tools import Tier
from taskshield.core.usage import NO_USAGE, Usage

Way = Literal["worst-case", "replay", "live"]
"""How an item is run.

- worst-case: an agent does what the user and the attacker want and ignores all feedback
- replay: the recorded calls of a real agent are checked
- live: a real model acts, with feedback rounds
"""

Owner = Literal["user", "attacker"]
"""Whose goal a call serves."""

NO_DEFENCE = "none"
"""The name of the judge or of the defence where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What all runs of a file share. Files with equal headers can be merged."""

    way: Way
    judge: str
    """Name of the judge, or "none"."""
    defence: str = NO_DEFENCE
    """A defence that comes with AgentDojo, or "none"."""
    version: str
    """Version of AgentDojo's suites, e.g. "v1"."""
    attacks: tuple[str, ...]
    settings: str = ""
    """Hash of the shield's settings without the judge's name. Equal hashes mean equal settings."""
    taskshield: str
    agentdojo: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """An instruction and its score."""

    text: str
    call_id: str | None
    """Set where the instruction is a tool call."""
    aligned: bool
    total: float
    """Sum of its scores over the user's tasks."""
    epsilon: float
    """The threshold that `total` had to exceed."""
    explained: float = 0.0
    """How far a directive in tool output explains it."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call and its result."""

    id: str
    name: str
    arguments: str
    tier: Tier | None = None
    """Risk tier that the shield gives the tool. None without a shield."""
    action: Action = "allow"
    executed: bool
    owner: Owner | None = None
    """Known only for the worst-case agent."""

    @property
    def blocked(self) -> bool:
        """Whether the shield blocked it. A call may fail to run for other reasons."""
        return self.action not in LET_THROUGH


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedStep:
    """One message and the decision on it."""

    level: Level
    text: str
    """Text of the message. Long texts are cut."""
    calls: tuple[Call, ...] = ()
    answers: str | None = None
    """For tool output: the id of the call that produced it."""
    check: Check | None = None
    """None without a shield."""
    outage: str | None = None
    """Why there is no verdict, if the check failed."""
    action: Action = "allow"
    findings: tuple[Finding, ...] = ()
    """On every call, and on every misaligned instruction in the text."""
    feedback: str | None = None
    ms: float = 0.0
    """Time of the check."""
    cached: bool = False
    """Whether the answer came from the judge's cache."""
    usage: Usage = NO_USAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkRun:
    """One item run once."""

    suite: str
    user_task: str
    injection_task: str | None = None
    """None for a clean run."""
    attack: str | None = None
    """None for a clean run."""
    agent: str
    """Name of the agent: "worst-case", or a model or pipeline."""
    utility: bool = False
    """Whether the user's task was completed."""
    hijacked: bool = False
    """Whether the attacker's goal was reached. Always false for a clean run."""
    by_words: bool = False
    """Whether the goal can be reached without any tool call. No check of calls can stop that."""
    unsolved: bool = False
    """Whether AgentDojo lists no calls that reach the goal, so that the worst-case agent cannot."""
    shown: bool = False
    """Whether the agent read the injection. Known only for the worst-case agent."""
    error: str | None = None
    """Why the run failed. Failed runs are left out of all figures."""
    recorded_utility: bool | None = None
    """For a replay: the outcome in the recorded run."""
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
    """The id of a run. It is known before the run starts."""
    attacked = "clean" if attack is None else f"{attack}/{injection_task}"
    return f"{agent}/{suite}/{user_task}/{attacked}"
