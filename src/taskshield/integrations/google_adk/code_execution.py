"""Code that a model writes, and what parts of messages say that a tool or code has returned.

Owns which code ADK is about to run: its own executors take it from an answer's parts and from its
text. What the provider has run already is only read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from google.adk.code_executors import BuiltInCodeExecutor
from google.adk.code_executors.base_code_executor import BaseCodeExecutor
from google.adk.code_executors.code_execution_utils import CodeExecutionUtils
from google.adk.flows.llm_flows.functions import (
    REQUEST_CONFIRMATION_FUNCTION_CALL_NAME,
    REQUEST_EUC_FUNCTION_CALL_NAME,
    REQUEST_INPUT_FUNCTION_CALL_NAME,
)
from google.genai import types

from taskshield.core.messages import ToolCall
from taskshield.engine.tool_functions import as_json

QUESTIONS = frozenset(
    {
        REQUEST_CONFIRMATION_FUNCTION_CALL_NAME,
        REQUEST_EUC_FUNCTION_CALL_NAME,
        REQUEST_INPUT_FUNCTION_CALL_NAME,
    }
)
"""Questions to people that ADK sends as calls. Their answers are not results of tools."""

RUN_CODE = "execute_code"
"""The name of the calls that run code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """What a part says that a tool returned."""

    value: object
    answers: str | None


def returned_by(part: types.Part) -> Returned | None:
    """The result in a part: of a tool, of code, or of a tool at the provider."""
    if part.function_response is not None and part.function_response.name not in QUESTIONS:
        reply = part.function_response
        return Returned(value=reply.response, answers=reply.id)
    if part.code_execution_result is not None:
        result = part.code_execution_result
        return Returned(value=result.output, answers=result.id)
    at_provider = getattr(part, "tool_response", None)  # not in all versions of google-genai
    if at_provider is not None:
        return Returned(value=at_provider.response, answers=at_provider.id)
    return None


def with_text(part: types.Part, text: str) -> types.Part:
    """The part with this text as its result."""
    if part.function_response is not None:
        reply = part.function_response.model_copy(update={"response": {"result": text}})
        return part.model_copy(update={"function_response": reply})
    if part.code_execution_result is not None:
        result = part.code_execution_result.model_copy(update={"output": text})
        return part.model_copy(update={"code_execution_result": result})
    assert part.tool_response is not None
    response = part.tool_response.model_copy(update={"response": {"result": text}})
    return part.model_copy(update={"tool_response": response})


def code_to_run(agent: object, parts: Sequence[types.Part]) -> list[ToolCall]:
    """The code in an answer that ADK's executor is going to run, as calls."""
    executor = getattr(agent, "code_executor", None)
    if not isinstance(executor, BaseCodeExecutor) or isinstance(executor, BuiltInCodeExecutor):
        return []
    # It depends on the planner which thoughts ADK takes code from.
    unthought = [part for part in parts if not part.thought]
    unsigned = [part for part in parts if not (part.thought and part.thought_signature)]
    found = {_first_code(each, executor): None for each in (unthought, unsigned)}
    return [_call(code, f"code-{number}") for number, code in enumerate(found) if code]


def calls_in(parts: Sequence[types.Part]) -> Iterator[ToolCall]:
    """The code in the parts of an earlier answer, as calls."""
    for number, part in enumerate(parts):
        if part.executable_code is not None:
            id = part.executable_code.id or f"code-{number}"
            yield _call(str(part.executable_code.code), id)


def without_code(parts: Sequence[types.Part]) -> list[types.Part]:
    """An answer without code that ADK could run: it looks for it in texts as well."""
    return [part for part in parts if part.executable_code is None and not part.text]


def _first_code(parts: Sequence[types.Part], executor: BaseCodeExecutor) -> str | None:
    content = types.Content(parts=[part.model_copy() for part in parts])
    delimiters = executor.code_block_delimiters
    return CodeExecutionUtils.extract_code_and_truncate_content(content, delimiters)


def _call(code: str, id: str) -> ToolCall:
    return ToolCall(id=id, name=RUN_CODE, arguments=as_json({"code": code}))
