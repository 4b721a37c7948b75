"""Agents that use a proxy with the providers' own SDKs, one for each wire format.

An agent keeps its conversation as programs do: answers go into the next request.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import anthropic
import httpx2
import openai

from tests.adapters.proxy.sdks import Seen, apart
from tests.adapters.proxy.streams import Call

NAMES = ("read_file", "write_note", "send_money")
KEY = "sk-of-the-client"
_HTTP = httpx2.Client(limits=httpx2.Limits(max_keepalive_connections=0), timeout=60)
"""Shared, because making a client takes longer than most tests."""


class Agent(ABC):
    """One conversation."""

    def __init__(
        self, url: str, *, streams: bool, headers: Mapping[str, str] | None = None
    ) -> None:
        self.url = url
        self.streams = streams
        self.headers = dict(headers or {})
        self.turns: list[Any] = []

    def ask(self) -> Seen:
        """Ask for an answer, and add it to the conversation."""
        return self.take(self.client())

    @abstractmethod
    def client(self) -> Any: ...

    @abstractmethod
    def take(self, client: Any) -> Seen: ...

    def user(self, text: str) -> None:
        """The user says something."""
        self.turns.append({"role": "user", "content": text})

    @abstractmethod
    def output(self, call: Call, text: str) -> None:
        """A tool returns something."""


class ChatAgent(Agent):
    def client(self) -> openai.OpenAI:
        return openai.OpenAI(
            base_url=f"{self.url}/v1",
            api_key=KEY,
            max_retries=0,
            default_headers=self.headers,
            http_client=_HTTP,
        )

    def take(self, client: Any) -> Seen:
        given: dict[str, Any] = {
            "model": "m",
            "messages": self.turns,
            "tools": [{"type": "function", "function": {"name": name}} for name in NAMES],
        }
        if self.streams:
            with client.chat.completions.stream(**given) as stream:
                completion = stream.get_final_completion()
        else:
            completion = client.chat.completions.create(**given)
        (choice,) = completion.choices
        message = choice.message
        self.turns.append(message.model_dump(exclude_none=True, exclude={"parsed"}))
        for call in self.turns[-1].get("tool_calls", ()):
            call["function"].pop("parsed_arguments", None)
        return Seen(
            texts=tuple(message.content.split("\n\n")) if message.content else (),
            calls=tuple(
                Call(call.id, call.function.name, call.function.arguments)
                for call in message.tool_calls or ()
            ),
            finish=choice.finish_reason,
            tokens=(completion.usage.prompt_tokens, completion.usage.completion_tokens),
            id=completion.id,
        )

    def output(self, call: Call, text: str) -> None:
        self.turns.append({"role": "tool", "tool_call_id": call.id, "content": text})


class MessagesAgent(Agent):
    def client(self) -> anthropic.Anthropic:
        return anthropic.Anthropic(
            base_url=self.url,
            api_key=KEY,
            max_retries=0,
            default_headers=self.headers,
            http_client=_HTTP,
        )

    def take(self, client: Any) -> Seen:
        given: dict[str, Any] = {
            "model": "m",
            "max_tokens": 100,
            "messages": self.turns,
            "tools": [{"name": name, "input_schema": {"type": "object"}} for name in NAMES],
        }
        if self.streams:
            with client.messages.stream(**given) as stream:
                message = stream.get_final_message()
        else:
            message = client.messages.create(**given)
        blocks = [block.model_dump(exclude_none=True) for block in message.content]
        for block in blocks:
            block.pop("parsed_output", None)
        self.turns.append({"role": "assistant", "content": blocks})
        return Seen(
            texts=apart(block.text for block in message.content if block.type == "text"),
            calls=tuple(
                Call(block.id, block.name, json.dumps(block.input))
                for block in message.content
                if block.type == "tool_use"
            ),
            finish=message.stop_reason,
            tokens=(message.usage.input_tokens, message.usage.output_tokens),
            id=message.id,
        )

    def output(self, call: Call, text: str) -> None:
        block = {"type": "tool_result", "tool_use_id": call.id, "content": text}
        self.turns.append({"role": "user", "content": [block]})


class ResponsesAgent(ChatAgent):
    """Sends the whole conversation every time."""

    def take(self, client: Any) -> Seen:
        response = self.respond(client, input=self.turns, store=False)
        self.turns += [item.model_dump(exclude_none=True) for item in response.output]
        for item in self.turns:
            item.pop("parsed_arguments", None)
        return self.seen(response)

    def respond(self, client: Any, **more: Any) -> Any:
        given: dict[str, Any] = {
            "model": "m",
            "tools": [
                {"type": "function", "name": name, "parameters": {}, "strict": False}
                for name in NAMES
            ],
            **more,
        }
        if not self.streams:
            return client.responses.create(**given)
        with client.responses.stream(**given) as stream:
            return stream.get_final_response()

    def seen(self, response: Any) -> Seen:
        return Seen(
            texts=apart(
                part.text
                for item in response.output
                if item.type == "message"
                for part in item.content
            ),
            calls=tuple(
                Call(item.call_id, item.name, item.arguments)
                for item in response.output
                if item.type == "function_call"
            ),
            finish=response.status,
            tokens=(response.usage.input_tokens, response.usage.output_tokens),
            id=response.id,
        )

    def output(self, call: Call, text: str) -> None:
        self.turns.append({"type": "function_call_output", "call_id": call.id, "output": text})


class StoredResponsesAgent(ResponsesAgent):
    """Continues the responses that the provider stores."""

    previous: str | None = None

    def take(self, client: Any) -> Seen:
        going_on = {} if self.previous is None else {"previous_response_id": self.previous}
        response = self.respond(client, input=self.turns, **going_on)
        self.previous, self.turns = response.id, []
        return self.seen(response)


class ThreadAgent(ResponsesAgent):
    """Has the provider store the whole conversation."""

    def take(self, client: Any) -> Seen:
        response = self.respond(client, input=self.turns, conversation="conv_1")
        self.turns = []
        return self.seen(response)


AGENTS: list[type[Agent]] = [
    ChatAgent,
    MessagesAgent,
    ResponsesAgent,
    StoredResponsesAgent,
    ThreadAgent,
]
Make = Callable[..., Agent]
"""Makes an agent that talks to this address."""
