"""What the integration uses of the OpenAI Agents SDK though the SDK does not publish it.

The SDK marks tools that run an agent, and keeps the target of a handoff, in private attributes.
Only this module uses them; `tests/integrations/openai_agents/test_sdk_internals.py` fails when a
release of the SDK changes them.
"""

import weakref
from typing import Any

from agents import Agent, FunctionTool, Handoff


def is_agent_tool(tool: FunctionTool) -> bool:
    """Whether the tool runs an agent."""
    return tool._is_agent_tool


def agent_of(tool: FunctionTool) -> object:
    """The agent that a tool runs."""
    return tool._agent_instance


def target_of(handoff: Handoff[Any, Any]) -> Agent[Any] | None:
    """The agent that a handoff leads to, if it is fixed."""
    target = None if handoff._agent_ref is None else handoff._agent_ref()
    return target if isinstance(target, Agent) else None


def set_target(handoff: Handoff[Any, Any], agent: Agent[Any]) -> None:
    """Set the agent that a handoff leads to; a stored run finds its agents by this."""
    handoff._agent_ref = weakref.ref(agent)
