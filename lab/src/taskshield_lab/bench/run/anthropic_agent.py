"""A model behind Anthropic's messages API, as an element of AgentDojo's pipelines.

AgentDojo's own element does not work with the SDK's current release: it builds messages of a type
that is now a union, and passes an argument that was removed.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import anthropic
from agentdojo.agent_pipeline import BasePipelineElement
from agentdojo.functions_runtime import EmptyEnv, FunctionCall
from agentdojo.types import ChatAssistantMessage, text_content_block_from_string

from taskshield.core.tools import ToolSpec
from taskshield_lab.bench.agentdojo.pipeline_elements import tool_specs
from taskshield_lab.bench.run.model_calls import ModelRequester, read

_LONGEST_ANSWER = 1024
"""Tokens, as in AgentDojo's own element."""
_NOWHERE = EmptyEnv()

Block = dict[str, Any]
Turn = dict[str, Any]


class AnthropicAgentModel(BasePipelineElement):
    """Asks the model for the next message."""

    def __init__(self, sdk: anthropic.Anthropic, model: str, *, variable: str) -> None:
        """Prepare the element; nothing is sent yet.

        Args:
            sdk: The connection.
            model: The model's name at the endpoint.
            variable: The environment variable that the key came from, for error messages.
        """
        self._sdk = sdk
        self._model = model
        self._requester = ModelRequester(model=model, variable=variable)
        self.name = model

    def query(
        self,
        query: str,
        runtime: Any,
        env: Any = _NOWHERE,
        messages: Sequence[Any] = (),
        extra_args: dict[str, Any] | None = None,
    ) -> tuple[str, Any, Any, Sequence[Any], dict[str, Any]]:
        """Ask the model for the next message."""
        extra = {} if extra_args is None else extra_args
        system = [block for message in messages if _is_system(message) for block in _texts(message)]
        tools = [_tool(spec) for spec in tool_specs(runtime.functions.values())]
        request: Any = {
            "model": self._model,
            "max_tokens": _LONGEST_ANSWER,
            "messages": _turns(message for message in messages if not _is_system(message)),
            "system": system if system else anthropic.omit,
            "tools": tools if tools else anthropic.omit,
        }
        # The SDK's signature has no temperature any more, the API of older models does.
        reply = self._requester.request(
            lambda more: self._sdk.messages.create(**request, extra_body=dict(more))
        )
        answer = read(lambda: _answer(reply))
        return query, runtime, env, [*messages, answer], extra


def _is_system(message: Mapping[str, Any]) -> bool:
    return bool(message["role"] == "system")


def _tool(spec: ToolSpec) -> Block:
    return {
        "name": spec.name,
        "description": spec.description,
        "input_schema": spec.parameters,
    }


def _turns(messages: Iterable[Mapping[str, Any]]) -> list[Turn]:
    """Messages as alternating turns of user and assistant. Tool results belong to the user."""
    turns: list[Turn] = []
    for message in messages:
        role = "assistant" if message["role"] == "assistant" else "user"
        blocks = _blocks(message)
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        elif blocks:
            turns.append({"role": role, "content": blocks})
    return turns


def _blocks(message: Mapping[str, Any]) -> list[Block]:
    match message["role"]:
        case "tool":
            return [_result(message)]
        case "assistant":
            calls = message["tool_calls"] or []
            return [*_texts(message), *(_call(call) for call in calls)]
        case _:
            return _texts(message)


def _texts(message: Mapping[str, Any]) -> list[Block]:
    """The texts of a message. The API refuses empty ones."""
    texts = [block["content"] for block in message["content"] or []]
    return [{"type": "text", "text": text} for text in texts if text]


def _call(call: Any) -> Block:
    return {"type": "tool_use", "id": call.id, "name": call.function, "input": dict(call.args)}


def _result(message: Mapping[str, Any]) -> Block:
    error = message["error"]
    return {
        "type": "tool_result",
        "tool_use_id": message["tool_call_id"],
        "content": _texts(message) if error is None else [{"type": "text", "text": error}],
        "is_error": error is not None,
    }


def _answer(reply: Any) -> Any:
    texts = [block.text for block in reply.content if block.type == "text"]
    used = [block for block in reply.content if block.type == "tool_use"]
    calls = [FunctionCall(function=each.name, args=each.input, id=each.id) for each in used]
    return ChatAssistantMessage(
        role="assistant",
        content=[text_content_block_from_string(text) for text in texts],
        tool_calls=calls if reply.stop_reason == "tool_use" else None,  # else one may be cut off
    )
