"""The shield around an agent of the OpenAI Agents SDK.

    from agents import Agent, Runner
    from taskshield import AsyncShield
    from taskshield.integrations.openai_agents import guard

    agent = guard(Agent(name="Mail", tools=[...], handoffs=[...]), AsyncShield())
    result = await Runner.run(agent, "Summarise my newest e-mail.")

Use the guarded agent instead of the original one in every run; nothing else is to be installed.
"""

from taskshield.core.errors import MissingExtraError

try:
    import agents as _agents  # noqa: F401
except ImportError as error:
    raise MissingExtraError("openai-agents", "openai-agents") from error

from taskshield.integrations.openai_agents.guarded_agents import guard
from taskshield.integrations.openai_agents.guarded_run import RunRefused

__all__ = ["RunRefused", "guard"]
