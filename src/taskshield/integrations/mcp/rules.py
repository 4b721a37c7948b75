"""What a gateway does in cases that the shield's policy does not cover."""

from dataclasses import dataclass
from typing import Literal

NoGoal = Literal["reads", "allow", "refuse"]
"""What happens to calls while the user's task is not known.

- reads: read calls are allowed, others are blocked
- allow: all calls are allowed
- refuse: all calls are blocked

Results are always checked.
"""

Poisoned = Literal["withhold", "replace"]
"""What happens to a tool whose description tries to direct the agent.

- withhold: it is not listed, and cannot be called
- replace: it is listed with a note instead of its words
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules of one gateway."""

    no_goal: NoGoal = "reads"
    """For calls without a known task."""
    poisoned: Poisoned = "withhold"
    """For tools whose description tries to direct the agent."""
