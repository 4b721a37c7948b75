"""The pages of the integrations: the agents of the tests use what the pages define."""

from tests.docs.snippets.plan import Plan, driven

PLANS = {
    "docs/integrations/langchain.md": Plan(
        steps={
            "def guarded(model, tools)": driven("langchain", "guarded"),
            "def report_of": driven("langchain", "report_of"),
            "def settle": driven("langchain", "settle"),
            "def guarded_tools": driven("langchain", "guarded_tools"),
        }
    ),
    "docs/integrations/openai-agents.md": Plan(
        steps={
            "async def work(agent, task):": driven("openai_agents", "guarded"),
            "async def work(agent, task, ask):": driven("openai_agents", "asking"),
        }
    ),
    "docs/integrations/pydantic-ai.md": Plan(
        steps={
            "def guarded": driven("pydantic_ai", "guarded"),
            "def work": driven("pydantic_ai", "asking"),
        }
    ),
    "docs/integrations/google-adk.md": Plan(
        steps={
            "def guarded": driven("google_adk", "guarded"),
            "def answer": driven("google_adk", "answer"),
        }
    ),
}
