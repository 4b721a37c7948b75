"""OpenAI's chat completions, and the many servers that speak the same API."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel, NonNegativeInt

from taskshield.clients.json_text import encodable, read_answer
from taskshield.clients.negotiation import TEMPERATURE, Dialect, Feature, left_out
from taskshield.clients.transport import Sdk, SdkClient, SdkOptions, usage_of
from taskshield.core.chat import ChatReply, ChatRequest, ChatTurn, FinishReason
from taskshield.core.errors import MissingExtraError

try:
    import openai
except ImportError as error:
    raise MissingExtraError("openai", "openai") from error

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionMessageParam

_FINISH: Mapping[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "refusal",
}


class OpenAIClient(SdkClient[openai.AsyncOpenAI]):
    """A model behind OpenAI's API or a compatible one: Azure OpenAI, vLLM, Ollama, llama.cpp."""

    provider = "openai"
    key_variable = "OPENAI_API_KEY"
    sdk: ClassVar[Sdk] = openai

    def _connect(self, options: SdkOptions) -> openai.AsyncOpenAI:
        return openai.AsyncOpenAI(**options)

    def _first_dialect(self, *, compatible: bool) -> Dialect:
        # OpenAI's newer models reject `max_tokens` and say so. Several compatible servers ignore
        # `max_completion_tokens` and say nothing, which leaves the answer without a limit.
        limits = (_max_completion_tokens, _max_tokens)
        limit = Feature(variants=limits[::-1] if compatible else limits, names=_LIMIT_NAMES)
        return Dialect((limit, TEMPERATURE, _FORMAT))

    async def _send(self, request: ChatRequest, fields: Mapping[str, object]) -> bytes:
        response = await self._connection.chat.completions.with_raw_response.create(
            model=self._model, messages=_messages(request), extra_body=fields
        )
        return response.content

    def _read(self, body: bytes) -> ChatReply:
        completion = read_answer(_Completion, body)
        tokens = completion.usage or _Tokens()
        usage = usage_of(prompt=tokens.prompt_tokens, completion=tokens.completion_tokens)
        if not completion.choices:
            return ChatReply(text="", finish="other", usage=usage)
        choice = completion.choices[0]
        finish = _FINISH.get(choice.finish_reason or "", "other")
        if choice.message.refusal:
            finish = "refusal"
        return ChatReply(text=choice.message.content or "", finish=finish, usage=usage)


def _messages(request: ChatRequest) -> "list[ChatCompletionMessageParam]":
    return [
        {"role": "system", "content": encodable(request.system)},
        *(_message(turn) for turn in request.turns),
    ]


def _message(turn: ChatTurn) -> "ChatCompletionMessageParam":
    if turn.role == "assistant":
        return {"role": "assistant", "content": encodable(turn.text)}
    return {"role": "user", "content": encodable(turn.text)}


def _json_schema(request: ChatRequest) -> Mapping[str, object]:
    schema = {"name": request.schema_name, "strict": True, "schema": request.schema}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def _schema_in_json_object(request: ChatRequest) -> Mapping[str, object]:
    """The form of llama-cpp-python, and of llama.cpp's server before it knew the other."""
    return {"response_format": {"type": "json_object", "schema": request.schema}}


def _json_object(request: ChatRequest) -> Mapping[str, object]:
    return {"response_format": {"type": "json_object"}}


def _max_completion_tokens(request: ChatRequest) -> Mapping[str, object]:
    return {"max_completion_tokens": request.max_tokens}


def _max_tokens(request: ChatRequest) -> Mapping[str, object]:
    return {"max_tokens": request.max_tokens}


_FORMAT = Feature(
    variants=(_json_schema, _schema_in_json_object, _json_object, left_out),
    names=("response_format", "json_schema", "json schema", "json_object", "grammar", "structured"),
    suspect=True,
)
_LIMIT_NAMES = ("max_completion_tokens", "max_tokens")


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Tokens(BaseModel):
    prompt_tokens: NonNegativeInt | None = None
    completion_tokens: NonNegativeInt | None = None


class _Completion(BaseModel):
    choices: list[_Choice]
    usage: _Tokens | None = None
