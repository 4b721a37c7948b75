"""A guard for LLM agents: does this serve the user's task?"""

from taskshield._version import __version__
from taskshield.api.sessions import AsyncSession, Session
from taskshield.api.shields import AsyncShield, Shield
from taskshield.core.decisions import CallVerdict, Decision, Finding
from taskshield.core.errors import ConfigError, MissingExtraError, TaskShieldError
from taskshield.core.levels import Level
from taskshield.core.messages import Message, ToolCall
from taskshield.core.tools import Tier, ToolSpec

__all__ = [
    "AsyncSession",
    "AsyncShield",
    "CallVerdict",
    "ConfigError",
    "Decision",
    "Finding",
    "Level",
    "Message",
    "MissingExtraError",
    "Session",
    "Shield",
    "TaskShieldError",
    "Tier",
    "ToolCall",
    "ToolSpec",
    "__version__",
]
