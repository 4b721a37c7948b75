"""The shield as middleware of LangChain's agents, which are LangGraph graphs.

from langchain.agents import create_agent
from taskshield.integrations.langchain import ShieldMiddleware

agent = create_agent("openai:gpt-4o-mini", tools, middleware=[ShieldMiddleware()])
agent.invoke({"messages": [{"role": "user", "content": "Summarise my newest e-mail."}]})
"""

from taskshield.core.errors import MissingExtraError

try:
    import langchain as _langchain  # noqa: F401
    import langgraph as _langgraph  # noqa: F401
except ImportError as error:
    raise MissingExtraError("langchain", "langchain") from error

from taskshield.integrations.langchain.middleware import ShieldMiddleware
from taskshield.integrations.langchain.outgoing import MARK
from taskshield.integrations.langchain.thread_state import ShieldState

__all__ = ["MARK", "ShieldMiddleware", "ShieldState"]
