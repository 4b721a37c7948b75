"""A chat model for tests of LangChain agents: answers from a function, streamed in pieces."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import Field

from taskshield.engine.tool_functions import as_json

Script = Callable[[list[BaseMessage]], AIMessage]
"""The model's answer to its input."""


class ScriptedModel(BaseChatModel):
    script: Script
    shown: list[list[BaseMessage]] = Field(default_factory=list)
    """The input of each request."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        self.shown.append(list(messages))
        return ChatResult(generations=[ChatGeneration(message=self.script(messages))])

    def _stream(
        self, messages: list[BaseMessage], *args: Any, **options: Any
    ) -> Iterator[ChatGenerationChunk]:
        self.shown.append(list(messages))
        answer = self.script(messages)
        for word in str(answer.text).split():
            yield ChatGenerationChunk(message=AIMessageChunk(content=f"{word} "))
        calls = [
            tool_call_chunk(
                name=call["name"], args=as_json(call["args"]), id=call["id"], index=number
            )
            for number, call in enumerate(answer.tool_calls)
        ]
        yield ChatGenerationChunk(
            message=AIMessageChunk(
                content="",
                tool_call_chunks=calls,
                usage_metadata=answer.usage_metadata,
                chunk_position="last",
            )
        )

    @property
    def read(self) -> str:
        """All input of the model."""
        return "\n".join(str(message.content) for asked in self.shown for message in asked)


def saying(*answers: AIMessage) -> Script:
    """A model that gives these answers in turn, for any input."""
    remaining = iter(answers)
    return lambda messages: next(remaining)


def call(name: str, /, *, id: str | None = None, **arguments: Any) -> dict[str, Any]:
    """A tool call; without an id, its name is its id."""
    return {"name": name, "args": arguments, "id": name if id is None else id, "type": "tool_call"}


def calling(*calls: dict[str, Any], text: str = "") -> AIMessage:
    return AIMessage(content=text, tool_calls=list(calls))
