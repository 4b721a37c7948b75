"""A guard for LLM agents: does this serve the user's task?"""

from taskshield._version import __version__
from taskshield.api.sessions import AsyncSession, Session
from taskshield.api.shields import AsyncShield, Shield
from taskshield.core.decisions import CallVerdict, Case, Decision, Finding, Outage
from taskshield.core.errors import (
    ConfigError,
    ConversationError,
    JudgeError,
    MissingExtraError,
    PrivilegeError,
    TaskShieldError,
    ToolOutputRejected,
    WireFormatError,
)
from taskshield.core.instructions import Grant, Instruction, Origin, Span, Task, TaskSet
from taskshield.core.judge import Judge, SessionView
from taskshield.core.levels import Level
from taskshield.core.messages import Conversation, Message, ToolCall
from taskshield.core.policy import Policy
from taskshield.core.readings import Assessed, Reading, Score, TaskDraft, TasksReading, Trace
from taskshield.core.tools import Tier, ToolAnnotations, ToolSpec
from taskshield.engine.decide import decide

__all__ = [
    "Assessed",
    "AsyncSession",
    "AsyncShield",
    "CallVerdict",
    "Case",
    "ConfigError",
    "Conversation",
    "ConversationError",
    "Decision",
    "Finding",
    "Grant",
    "Instruction",
    "Judge",
    "JudgeError",
    "Level",
    "Message",
    "MissingExtraError",
    "Origin",
    "Outage",
    "Policy",
    "PrivilegeError",
    "Reading",
    "Score",
    "Session",
    "SessionView",
    "Shield",
    "Span",
    "Task",
    "TaskDraft",
    "TaskSet",
    "TaskShieldError",
    "TasksReading",
    "Tier",
    "ToolAnnotations",
    "ToolCall",
    "ToolOutputRejected",
    "ToolSpec",
    "Trace",
    "WireFormatError",
    "__version__",
    "decide",
]
