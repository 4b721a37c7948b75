"""Policies and cases in stored documents."""

from typing import Any, get_args

from taskshield.adapters.stored.containers import Listed, MapOf, OrNothing, SetOf
from taskshield.adapters.stored.conversations import (
    MESSAGE,
    OBJECTIVE,
    SPAN,
    TAINTED,
    TASK_SET,
    TIER,
    TOOL_CALL,
)
from taskshield.adapters.stored.documents import Document
from taskshield.adapters.stored.records import Member, Record
from taskshield.adapters.stored.shapes import FLAG, NUMBER, TEXT, WHOLE, Shape, words
from taskshield.core.assessments import (
    AssessedInstruction,
    Contradiction,
    ContradictionKind,
    Score,
    Trace,
)
from taskshield.core.decisions import Case, Outage
from taskshield.core.policy import Authorisation, Policy
from taskshield.core.usage import NO_USAGE, Usage

_RESPONSE: Shape[Any] = words("observe", "revise", "escalate", "block")
_OUTAGE_RESPONSE: Shape[Any] = words("allow", "escalate", "block")

POLICY = Record(
    Policy,
    Member("misaligned", MapOf(_RESPONSE, TIER)),
    Member("tools", MapOf(_RESPONSE)),
    Member("text", _RESPONSE),
    Member("output", words("observe", "annotate", "redact")),
    Member("outage", MapOf(_OUTAGE_RESPONSE, TIER)),
    Member("output_outage", OrNothing(words("allow", "annotate", "withhold"))),
    Member("rounds", WHOLE),
    Member("epsilon", OrNothing(NUMBER)),
    Member("tiers", MapOf(TIER)),
    Member("objectives", words("auto", "on", "off")),
    Member("history_tokens", WHOLE),
    Member(
        "trusted_context",
        SetOf(words("project_file", "system_message", "text_beside_result")),
        default=frozenset(),
        added=True,
    ),
    Member(
        "authorisation",
        MapOf(MapOf(_RESPONSE, TIER), words(*get_args(Authorisation))),
        default={},
        added=True,
    ),
    Member("unknown_task", OrNothing(_RESPONSE), default=None, added=True),
)
"""Nothing else has a default: a lost rule must not become a weaker one.

Names of conversations are made from this text as well. So a rule that is added here is left out
where it has its default, and servers of two releases give a conversation the same name.
"""

USAGE = Record(
    Usage,
    Member("calls", WHOLE, default=0),
    Member("prompt_tokens", WHOLE, default=0),
    Member("completion_tokens", WHOLE, default=0),
    Member("saved", WHOLE, default=0),
    Member("fallbacks", WHOLE, default=0),
)

_SCORE = Record(Score, Member("target", TEXT), Member("value", NUMBER), Member("reason", TEXT))

_CONTRADICTION = Record(
    Contradiction,
    Member("target", TEXT),
    Member("kind", words(*get_args(ContradictionKind))),
    Member("said", TEXT),
    Member("does", TEXT),
)

_ASSESSED = Record(
    AssessedInstruction,
    Member("text", TEXT),
    Member("span", OrNothing(SPAN)),
    Member("call_id", OrNothing(TEXT)),
    Member("scores", Listed(_SCORE)),
    Member("objective_scores", Listed(_SCORE)),
    Member("taint_scores", Listed(_SCORE)),
    Member("epsilon", NUMBER),
    Member("asked_from", OrNothing(NUMBER), default=None, added=True),
    Member("contradictions", Listed(_CONTRADICTION), default=(), added=True),
)

_TRACE = Record(
    Trace,
    Member("judge", TEXT),
    Member("prompt", TEXT, default=""),
    Member("usage", USAGE, default=NO_USAGE),
    Member("cached", FLAG, default=False),
)

_OUTAGE = Record(
    Outage,
    Member("kind", words("unavailable", "timeout", "invalid_output", "budget", "oversized")),
    Member("detail", TEXT),
)

CASE_RECORD = Record(
    Case,
    Member("id", TEXT),
    Member("message", MESSAGE),
    Member("index", WHOLE),
    Member("policy", POLICY),
    Member("check", words("executed", "skipped", "failed")),
    Member("tasks", TASK_SET),
    Member("objectives", Listed(OBJECTIVE)),
    Member("tainted", Listed(TAINTED)),
    Member("assessed", Listed(_ASSESSED)),
    Member("trace", _TRACE),
    Member("tiers", MapOf(TIER)),
    Member("answered", OrNothing(TOOL_CALL)),
    Member("rounds_used", WHOLE),
    Member("refused", SetOf(TEXT)),
    Member("approved", SetOf(TEXT), default=frozenset()),
    Member("outage", OrNothing(_OUTAGE)),
    Member("elapsed_ms", NUMBER, default=0.0),
)
"""What the decision depends on is needed, but an approval that is lost asks the person again."""

CASE: Document[Case] = Document(name="Case", record=CASE_RECORD)
