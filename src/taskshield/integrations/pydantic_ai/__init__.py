"""The shield as a capability of a Pydantic AI agent.

    from pydantic_ai import Agent
    from taskshield import AsyncShield
    from taskshield.integrations.pydantic_ai import TaskShield

    agent = Agent("openai:gpt-5", tools=[...], capabilities=[TaskShield(AsyncShield())])

No state is kept between runs: the session of a conversation is stored, as JSON, in the metadata of
its newest message. So one agent can serve any number of conversations, in any number of processes.
"""

from taskshield.core.errors import MissingExtraError

try:
    import pydantic_ai as _pydantic_ai  # noqa: F401
except ImportError as error:
    raise MissingExtraError("pydantic-ai-slim", "pydantic-ai") from error

from taskshield.integrations.pydantic_ai.capability import TaskShield
from taskshield.integrations.pydantic_ai.messages import METADATA

__all__ = ["METADATA", "TaskShield"]
