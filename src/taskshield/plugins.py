"""Public: what judges and stores implement, what they are given, and what they answer with."""

from taskshield.core.assessments import (
    AssessedInstruction,
    Assessment,
    Contradiction,
    Score,
    TaskAssessment,
    TaskDraft,
    Trace,
)
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
from taskshield.core.judge import HistoryEntry, Judge, SessionView
from taskshield.core.judge_options import JudgeOptions
from taskshield.core.messages import Opaque, Text
from taskshield.core.store import (
    ApiKey,
    Approval,
    AuditQuery,
    AuditRecord,
    Label,
    ListedSession,
    Login,
    Page,
    Store,
    StoredSession,
    Tally,
)
from taskshield.core.tools import ToolAnnotations
from taskshield.core.usage import Usage

__all__ = [
    "ApiKey",
    "Approval",
    "AssessedInstruction",
    "Assessment",
    "AuditQuery",
    "AuditRecord",
    "Contradiction",
    "Grant",
    "HistoryEntry",
    "Instruction",
    "Judge",
    "JudgeOptions",
    "Label",
    "ListedSession",
    "Login",
    "Objective",
    "Opaque",
    "Origin",
    "Page",
    "Score",
    "SessionView",
    "Span",
    "Store",
    "StoredSession",
    "TaintedDirective",
    "Tally",
    "Task",
    "TaskAssessment",
    "TaskDraft",
    "TaskSet",
    "Text",
    "ToolAnnotations",
    "Trace",
    "Usage",
]
