"""The result of checking a whole conversation, from which every report is made."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Literal

from taskshield.adapters.conversations.detect import Format
from taskshield.core.decisions import Decision
from taskshield.core.instructions import Objective, TaintedDirective, TaskSet
from taskshield.core.session_state import Counters
from taskshield.core.usage import NO_USAGE, Usage
from taskshield.engine.state import counted

Verdict = Literal["aligned", "misaligned", "outage"]
"""The worst finding.

- aligned: every message serves the user's tasks
- misaligned: at least one instruction does not
- outage: nothing misaligned was found, but at least one message could not be checked
"""

EXIT_STATUS: Mapping[Verdict, int] = {"aligned": 0, "misaligned": 1, "outage": 3}
BAD_INPUT = 2
"""Exit status without a verdict; argparse uses it for a wrong command line, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The decisions on all messages of a conversation."""

    file: str
    """Its name on the command line."""
    format: Format
    decisions: tuple[Decision, ...]
    """One for each message, in order; there is at least one."""

    @property
    def verdict(self) -> Verdict:
        """The worst finding."""
        if self.misaligned:
            return "misaligned"
        return "outage" if self.counters.failed else "aligned"

    @property
    def misaligned(self) -> int:
        """Number of messages with a misaligned instruction."""
        return sum(bool(decision.misaligned) for decision in self.decisions)

    @property
    def judge(self) -> str:
        """Name of the judge; of a cascade, the names of those that gave verdicts."""
        names = [decision.judge for decision in self.decisions if decision.check == "executed"]
        return ", ".join(dict.fromkeys(names)) or self.decisions[-1].judge

    @property
    def tasks(self) -> TaskSet:
        """All tasks of the user."""
        return self.decisions[-1].case.tasks

    @property
    def objectives(self) -> tuple[Objective, ...]:
        """Objectives of the system message, as last read."""
        latest = (decision.case.objectives for decision in reversed(self.decisions))
        return next((objectives for objectives in latest if objectives), ())

    @property
    def tainted(self) -> Mapping[str, TaintedDirective]:
        """The directives that a judge saw as tainted, by id."""
        return {item.id: item for decision in self.decisions for item in decision.case.tainted}

    @property
    def counters(self) -> Counters:
        """Checks executed, skipped and failed."""
        return reduce(counted, self.decisions, Counters())

    @property
    def usage(self) -> Usage:
        """Model calls and tokens used, and calls saved."""
        return sum((decision.case.trace.usage for decision in self.decisions), NO_USAGE)

    @property
    def elapsed_ms(self) -> float:
        """Time of all checks together."""
        return sum(decision.elapsed_ms for decision in self.decisions)
