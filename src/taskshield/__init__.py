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
    TaskShieldError,
    ToolOutputRejected,
    WireFormatError,
)
from taskshield.core.instructions import Grant, Instruction, Task, TaskSet
from taskshield.core.judge import Judge
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall
from taskshield.core.tools import Tier, ToolAnnotations, ToolSpec
from taskshield.engine.decide import decide

__all__ = [
    "AsyncSession",
    "AsyncShield",
    "CallVerdict",
    "Case",
    "ConfigError",
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
    "Outage",
    "Session",
    "Shield",
    "Task",
    "TaskSet",
    "TaskShieldError",
    "Tier",
    "ToolAnnotations",
    "ToolCall",
    "ToolOutputRejected",
    "ToolSpec",
    "WireFormatError",
    "__version__",
    "decide",
]
