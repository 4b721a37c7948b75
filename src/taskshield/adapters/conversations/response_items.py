"""The types of items of OpenAI Responses, and what each of them asks for.

Every type of the current SDK is listed, and a test compares. Types come and go. In a conversation
whatever calls itself a call is taken for one; a proxy takes every type that is not listed for one.
"""

CLIENT_RUN = frozenset(
    {
        "apply_patch_call",
        "computer_call",
        "custom_tool_call",
        "function_call",
        "local_shell_call",
        "mcp_approval_request",
        "multi_agent_call",
        "shell_call",
        "tool_search_call",
    }
)
"""Calls that the client runs or approves. A few of them may have run at the provider."""
PROVIDER_RUN = frozenset(
    {
        "code_interpreter_call",
        "file_search_call",
        "image_generation_call",
        "mcp_call",
        "program",
        "web_search_call",
    }
)
"""Calls that the provider has already run when its response arrives."""
OUTPUTS = frozenset(
    {
        "apply_patch_call_output",
        "computer_call_output",
        "custom_tool_call_output",
        "function_call_output",
        "local_shell_call_output",
        "mcp_approval_response",
        "multi_agent_call_output",
        "program_output",
        "shell_call_output",
        "tool_search_output",
    }
)
"""What a tool returned, and nothing else."""
TOOL_LISTS = frozenset({"mcp_list_tools", "additional_tools"})
SILENT = frozenset(
    {
        "agent_message",
        "compaction",
        "compaction_trigger",
        "configuration_update",
        "item_reference",
        "reasoning",
    }
)
"""They ask the client for nothing, and say nothing that a judge may treat as fact."""
TEXTS = frozenset({"message"})
KNOWN = CLIENT_RUN | PROVIDER_RUN | OUTPUTS | TOOL_LISTS | SILENT | TEXTS


def is_call(kind: object) -> bool:
    """Whether items of this type ask for something to be done."""
    return isinstance(kind, str) and (kind in CLIENT_RUN | PROVIDER_RUN or kind.endswith("_call"))


def is_output(kind: object) -> bool:
    """Whether items of this type hold the output of a tool and nothing else."""
    return isinstance(kind, str) and (kind in OUTPUTS or kind.endswith("_call_output"))
