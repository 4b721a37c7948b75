"""What a gateway does where the shield's policy has no say."""

from dataclasses import dataclass
from typing import Literal

NoGoal = Literal["reads", "allow", "refuse"]
"""What happens to calls while nobody has said what the user wants.

- reads: calls that only read pass, others are refused
- allow: all pass
- refuse: none does

Results are checked in any case.
"""

Poisoned = Literal["withhold", "replace"]
"""What happens to a tool whose description tries to direct the agent.

- withhold: it is not listed, and cannot be called
- replace: it is listed with a note in place of its words
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules of one gateway."""

    no_goal: NoGoal = "reads"
    poisoned: Poisoned = "withhold"
