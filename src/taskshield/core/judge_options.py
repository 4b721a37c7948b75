"""What judges and their factories are made with."""

from dataclasses import dataclass, field
from typing import Literal

from taskshield.core.tools import Tier

Scheme = Literal["batched", "per_instruction"]
"""How many model calls a message takes.

- batched: one, which finds and scores all its instructions
- per_instruction: one to find them, and one more for each, as in the paper
"""

TaskReader = Literal["embedded", "llm"]
"""Which judge of a cascade reads the user's tasks."""

CascadeOutage = Literal["embedded", "fail"]
"""What happens if the LLM of a cascade gives no verdict.

- embedded: the embedded judge's verdict counts; the decision says so, and `Usage.fallbacks` grows
- fail: an outage, as with an LLM judge alone
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions:
    """The settings that a judge's factory is given by `wiring`."""

    model: str = ""
    """The part of the setting `judge` after its colon."""
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout_s: float = 15.0
    """Time for one request to an endpoint."""
    retries: int = 2
    scheme: Scheme = "batched"
    max_check_tokens: int = 32_000
    max_answer_tokens: int = 4_000
    prompt_history_tokens: int = 4_000
    """Tokens of the past in a prompt, besides the user's messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeOptions:
    """When a cascade asks its second judge, the LLM."""

    tiers: frozenset[Tier] = frozenset(
        {Tier.EXTERNAL, Tier.DESTRUCTIVE, Tier.FINANCIAL, Tier.ACCESS}
    )
    """Risk tiers of which the LLM judges every call."""
    band: float = 1.5
    """The LLM also judges a call with a score nearer to its threshold than this, in log-odds."""
    read_tasks: TaskReader = "embedded"
    on_outage: CascadeOutage = "embedded"
