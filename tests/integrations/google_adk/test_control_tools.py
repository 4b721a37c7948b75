"""What `control_tools` relies on. A failure here means that a release of ADK moved a tool."""

import importlib

import pytest
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.exit_loop_tool import exit_loop
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.set_model_response_tool import SetModelResponseTool
from google.adk.tools.transfer_to_agent_tool import TransferToAgentTool
from pydantic import BaseModel

from taskshield.integrations.google_adk.control_tools import CONTROL_TOOLS, is_control_tool


class Reply(BaseModel):
    text: str


@pytest.mark.parametrize("name", CONTROL_TOOLS)
def test_the_module_of_each_control_tool_exists(name: str) -> None:
    assert importlib.import_module(CONTROL_TOOLS[name]).__name__ == CONTROL_TOOLS[name]


@pytest.mark.parametrize(
    "tool",
    [TransferToAgentTool(["clerk"]), FunctionTool(exit_loop), SetModelResponseTool(Reply)],
    ids=lambda tool: str(tool.name),
)
def test_the_public_control_tools_are_recognized(tool: BaseTool) -> None:
    assert is_control_tool(tool)


@pytest.mark.parametrize(
    ("name", "attribute"), [("finish_task", "FinishTaskTool"), ("adk_request_input", None)]
)
def test_the_private_control_tools_are_recognized(name: str, attribute: str | None) -> None:
    module = importlib.import_module(CONTROL_TOOLS[name])
    if attribute is None:
        assert is_control_tool(module.request_input)
    else:
        assert getattr(module, attribute).__module__ == CONTROL_TOOLS[name]
        assert module.FINISH_TASK_TOOL_NAME == name


def test_another_tool_with_the_name_of_a_control_tool_is_not_recognized() -> None:
    def exit_loop() -> None:
        pass

    assert not is_control_tool(FunctionTool(exit_loop))
