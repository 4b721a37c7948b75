"""A model behind OpenAI's chat completions, as an element of AgentDojo's pipelines.

AgentDojo's own element gives the system message the role "developer" and every text as a list of
blocks. OpenAI accepts that. Compatible servers may refuse it, drop the message or show the model
the list. All accept plain text with the role "system".
"""

import uuid
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import openai
from agentdojo.agent_pipeline.llms.openai_llm import (
    OpenAILLM,
    _function_to_openai,
    _message_to_openai,
    _openai_to_assistant_message,
)
from agentdojo.functions_runtime import EmptyEnv

from taskshield_lab.bench.run.model_calls import ModelRequester, read

_NOWHERE = EmptyEnv()


class OpenAIAgentModel(OpenAILLM):
    """AgentDojo's element with our own requests.

    It subclasses AgentDojo's element because the tool filter requires that. The SDK does the
    retries: AgentDojo retries on every error, a wrong key included.
    """

    def __init__(self, sdk: openai.OpenAI, model: str, *, variable: str) -> None:
        """Prepare the element; nothing is sent yet.

        Args:
            sdk: The connection.
            model: The model's name at the endpoint.
            variable: The environment variable that the key came from, for error messages.
        """
        completions = _PlainCompletions(sdk, ModelRequester(model=model, variable=variable))
        client = SimpleNamespace(chat=SimpleNamespace(completions=completions))
        super().__init__(client, model)
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
        tools = [_function_to_openai(tool) for tool in runtime.functions.values()]
        completion = self.client.chat.completions.create(
            model=self.model,
            messages=[_message_to_openai(message, self.model) for message in messages],
            tools=tools if tools else openai.omit,
            tool_choice="auto" if tools else openai.omit,
        )
        answer = read(lambda: _answer(completion))
        return query, runtime, env, [*messages, answer], extra


class _PlainCompletions:
    """The part of the SDK's client that AgentDojo and its tool filter use."""

    def __init__(self, sdk: openai.OpenAI, requester: ModelRequester) -> None:
        self._sdk = sdk
        self._requester = requester

    def create(
        self, *, messages: Sequence[Any], temperature: float | None = None, **fields: Any
    ) -> Any:
        """Like the SDK's method. The temperature of the caller is ignored."""
        plain = [_plain(message) for message in messages]
        return self._requester.request(
            lambda more: self._sdk.chat.completions.create(
                messages=plain, **fields, extra_body=dict(more)
            )
        )


def _plain(message: Mapping[str, Any]) -> Any:
    role = "system" if message["role"] == "developer" else message["role"]
    content = message["content"]
    if isinstance(content, list):
        content = "\n".join(block["text"] for block in content)
    return {**message, "role": role, "content": content}


def _answer(completion: Any) -> Any:
    answer = _openai_to_assistant_message(completion.choices[0].message)
    for call in answer["tool_calls"] or ():
        if not call.id:  # some servers omit it, and then refuse their own message
            call.id = f"call_{uuid.uuid4().hex}"
    return answer
