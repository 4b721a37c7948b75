"""Messages, tools, instructions and goals in stored documents."""

from taskshield.adapters.stored.containers import Listed, MapOf, OrNothing, SetOf
from taskshield.adapters.stored.records import Either, Member, Record
from taskshield.adapters.stored.shapes import ANY_JSON, FLAG, TEXT, WHOLE, OneOf, Shape
from taskshield.core.instructions import (
    Grant,
    Instruction,
    Objective,
    Origin,
    Span,
    TaintedDirective,
    Task,
    TaskSet,
)
from taskshield.core.judge import HistoryEntry
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Opaque, Part, Text, ToolCall
from taskshield.core.tools import Tier, ToolAnnotations, ToolSpec

LEVEL = OneOf(
    {
        "system": Level.SYSTEM,
        "user": Level.USER,
        "assistant": Level.ASSISTANT,
        "tool": Level.TOOL,
    }
)

TIER = OneOf(
    {
        "read": Tier.READ,
        "write": Tier.WRITE,
        "external": Tier.EXTERNAL,
        "destructive": Tier.DESTRUCTIVE,
        "financial": Tier.FINANCIAL,
        "access": Tier.ACCESS,
    }
)

TOOL_CALL = Record(ToolCall, Member("id", TEXT), Member("name", TEXT), Member("arguments", TEXT))

PART: Shape[Part] = Either(
    text=(Text, Record(Text, Member("text", TEXT))),
    kind=(Opaque, Record(Opaque, Member("kind", TEXT))),
)

MESSAGE = Record(
    Message,
    Member("level", LEVEL),
    Member("parts", Listed(PART)),
    Member("tool_calls", Listed(TOOL_CALL)),
    Member("answers", OrNothing(TEXT)),
    Member("is_error", FLAG, default=False),
)

HISTORY_ENTRY = Record(
    HistoryEntry,
    Member("message", MESSAGE),
    Member("index", WHOLE),
    Member("refused", SetOf(TEXT)),
    Member("answered", OrNothing(TOOL_CALL)),
)

TOOL_SPEC = Record(
    ToolSpec,
    Member("name", TEXT),
    Member("description", TEXT),
    Member("parameters", MapOf(ANY_JSON)),
    Member(
        "annotations",
        Record(
            ToolAnnotations,
            Member("read_only", OrNothing(FLAG), default=None),
            Member("destructive", OrNothing(FLAG)),
            Member("idempotent", OrNothing(FLAG), default=None),
            Member("open_world", OrNothing(FLAG)),
        ),
    ),
)
"""Descriptions and hints are needed: risk tiers are read from them."""

SPAN = Record(Span, Member("start", WHOLE), Member("end", WHOLE))

INSTRUCTION = Record(
    Instruction,
    Member("text", TEXT),
    Member("level", LEVEL),
    Member(
        "origin",
        Record(
            Origin,
            Member("message", WHOLE),
            Member("span", OrNothing(SPAN), default=None),
            Member("call_id", OrNothing(TEXT), default=None),
            Member("tool", OrNothing(TEXT), default=None),
            Member("arguments", OrNothing(TEXT), default=None),
        ),
    ),
)

TASK = Record(
    Task,
    Member("id", TEXT),
    Member("instruction", INSTRUCTION),
    Member(
        "grant",
        OrNothing(Record(Grant, Member("source", TEXT), Member("scope", TEXT))),
        default=None,
    ),
)

TASK_SET = Record(TaskSet, Member("tasks", Listed(TASK)))

OBJECTIVE = Record(Objective, Member("id", TEXT), Member("instruction", INSTRUCTION))

TAINTED = Record(TaintedDirective, Member("id", TEXT), Member("instruction", INSTRUCTION))
