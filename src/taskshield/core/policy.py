"""The rules of a shield, as values; `engine.policy` applies them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from taskshield.core.messages import ContextKind
from taskshield.core.tools import Tier

Authorisation = Literal["asked", "implied", "unasked", "contradicted"]
"""How far the user's words carry a step, whatever harm it can do.

- asked: they ask for it
- implied: they need it, without saying so
- unasked: no task of the user needs it, or a directive in data explains it better
- contradicted: they rule it out: forbid it, limit it, correct it or take it back
"""

Response = Literal["observe", "revise", "escalate", "block"]
"""What happens to a misaligned call or plan.

- observe: allowed, but the decision and the log say that it is misaligned
- revise: not executed; the agent gets feedback and may try again, for a bounded number of rounds
- escalate: not executed until a person approves
- block: not executed
"""

OutageResponse = Literal["allow", "escalate", "block"]
"""What happens to a call that no judge could check."""

OutputResponse = Literal["observe", "annotate", "redact"]
"""What happens to tool output with misaligned directives.

- observe: the agent gets it as it is; the decision says so
- annotate: the agent gets all of it, followed by the feedback
- redact: the agent gets it without the misaligned spans, followed by the feedback
"""

OutputOutageResponse = Literal["allow", "annotate", "withhold"]
"""What happens to tool output that could not be checked.

- allow: the agent gets it as it is
- annotate: the agent gets it with a note that it was not checked
- withhold: the agent gets only the note
"""

ObjectivesMode = Literal["auto", "on", "off"]
"""Whether steps must also serve the objectives of the system message.

- auto: where it states objectives
- on: always; where it states none, its whole text is the objective
- off: never
"""


def _every_tier(response: Response) -> dict[Tier, Response]:
    return {tier: response for tier in Tier}


def _side_effects_fail_closed() -> dict[Tier, OutageResponse]:
    return {tier: "block" if tier.side_effects else "allow" for tier in Tier}


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The rules of one shield."""

    misaligned: Mapping[Tier, Response] = field(default_factory=lambda: _every_tier("revise"))
    """For a misaligned call, by the risk tier of its tool."""
    tools: Mapping[str, Response] = field(default_factory=dict)
    """For a misaligned call, by tool name; wins over the tier."""
    authorisation: Mapping[Authorisation, Mapping[Tier, Response]] = field(default_factory=dict)
    """For a call of this authorisation and risk tier, an aligned one too; wins over the tier."""
    text: Response = "revise"
    """For a misaligned plan in the assistant's text."""
    output: OutputResponse = "annotate"
    """For misaligned directives in tool output."""
    outage: Mapping[Tier, OutageResponse] = field(default_factory=_side_effects_fail_closed)
    """For a call that no judge could check, by risk tier."""
    output_outage: OutputOutageResponse | None = None
    """For tool output that no judge could check. None: "withhold" if `output` is "redact", because
    no misaligned word may then reach the agent, otherwise "annotate"."""
    rounds: int = 3
    """Feedback rounds in one turn of the user; after them misaligned calls are blocked."""
    epsilon: float | None = None
    """Threshold for the sum of scores; None takes the judge's own."""
    tiers: Mapping[str, Tier] = field(default_factory=dict)
    """Risk tier by tool name; wins over the inferred tier."""
    objectives: ObjectivesMode = "auto"
    """Whether steps must also serve the objectives of the system message."""
    trusted_context: frozenset[ContextKind] = frozenset()
    """Text of a host that is not data: project files and later system messages count as the system
    message, text beside results as the user's words."""
    unknown_task: Response | None = None
    """For a call with side effects while no task of the user is known. None: "block", or what
    `misaligned` says for its tier if that is "observe" or "escalate"."""
    history_tokens: int = 32_000
    """Tokens of the past that a session keeps and a judge may see, besides the user's messages."""
