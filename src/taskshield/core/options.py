"""What a judge factory is given."""

from dataclasses import dataclass, field
from typing import Literal

Scheme = Literal["batched", "per_instruction"]
"""How many model calls a message takes.

- batched: one, which finds and scores all its instructions
- per_instruction: one to find them and one more for each, as in the paper
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions:
    """Settings of a judge, as read by `wiring`."""

    model: str = ""
    """What stands behind the colon of the judge's name."""
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout_s: float = 15.0
    """Time for one request to an endpoint."""
    retries: int = 2
    scheme: Scheme = "batched"
    max_check_tokens: int = 32_000
    max_answer_tokens: int = 4_000
