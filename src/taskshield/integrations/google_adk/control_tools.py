"""Which tools of ADK only control the agents: they hand over, answer or ask the user.

ADK publishes neither a mark for these tools nor all of their names. Any tool can have the name of
one of them, so the module that defines the tool must match as well; two of these modules are
private. `tests/integrations/google_adk/test_control_tools.py` fails when a release of ADK moves
one of them.
"""

from google.adk.flows.llm_flows.functions import REQUEST_INPUT_FUNCTION_CALL_NAME
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.function_tool import FunctionTool

CONTROL_TOOLS = {
    "transfer_to_agent": "google.adk.tools.transfer_to_agent_tool",
    "exit_loop": "google.adk.tools.exit_loop_tool",
    "finish_task": "google.adk.agents.llm.task._finish_task_tool",
    "set_model_response": "google.adk.tools.set_model_response_tool",
    REQUEST_INPUT_FUNCTION_CALL_NAME: "google.adk.tools._request_input_tool",
}
"""The module of each tool, by the tool's name."""


def is_control_tool(tool: BaseTool) -> bool:
    """Whether this is one of ADK's own control tools, and not another tool with its name."""
    code = tool.func if isinstance(tool, FunctionTool) else type(tool)
    return CONTROL_TOOLS.get(tool.name) == code.__module__
