"""OpenAI's chat completions, and the many servers that speak the same API."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import BaseModel, NonNegativeInt

from taskshield.clients.endpoint import check_base_url, resolve_key
from taskshield.clients.failures import Failure, refused, timed_out, unexpected, unreachable
from taskshield.clients.negotiation import TEMPERATURE, Dialect, Feature, Negotiator, left_out
from taskshield.clients.wire import read_answer, sendable
from taskshield.core.chat import ChatReply, ChatRequest, ChatTurn, FinishReason
from taskshield.core.errors import MissingExtraError
from taskshield.core.usage import Usage

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


class OpenAIClient:
    """A model behind OpenAI's API or a compatible one: Azure OpenAI (v1), vLLM, Ollama, llama.cpp.

    Safe for concurrent use within one event loop.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout_s: float = 30.0,
        retries: int = 2,
    ) -> None:
        """Prepare a client; nothing is sent yet.

        Args:
            model: The model's name at the endpoint.
            base_url: Address of a compatible endpoint. None: OpenAI's, or that in OPENAI_BASE_URL.
            api_key: None: OPENAI_API_KEY; without that either, a `base_url` gets a placeholder.
            timeout_s: How long an attempt may wait for the endpoint to take or send anything.
            retries: Further attempts after 429, 5xx, a timeout or a broken connection.

        Raises:
            ConfigError: There is no usable key or address.
        """
        check_base_url(base_url)
        key = resolve_key(api_key, base_url=base_url, variable="OPENAI_API_KEY")
        self._model = model
        self._sdk = openai.AsyncOpenAI(
            api_key=key, base_url=base_url, timeout=timeout_s, max_retries=retries
        )
        self._negotiator = Negotiator(_first_dialect(compatible=base_url is not None))

    @property
    def name(self) -> str:
        """Provider and model."""
        return f"openai:{self._model}"

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Ask the model once.

        Raises:
            UpstreamError: The endpoint gave no answer, or none that can be read.
        """
        return _reply(await self._negotiator.ask(request, self._post))

    async def aclose(self) -> None:
        """Close the connection pool."""
        await self._sdk.close()

    async def _post(self, request: ChatRequest, fields: Mapping[str, object]) -> bytes | Failure:
        try:
            response = await self._sdk.chat.completions.with_raw_response.create(
                model=self._model, messages=_messages(request), extra_body=fields
            )
            return response.content
        except openai.APITimeoutError:
            return timed_out()
        except openai.APIConnectionError:
            return unreachable()
        except openai.APIStatusError as error:
            return refused(error.status_code, error.body, error.response.text)
        except Exception as error:
            # The SDK lets some errors of the layers below pass as they are. To the caller these are
            # outages as well, and their text may quote the request.
            return unexpected(error)


def _messages(request: ChatRequest) -> "list[ChatCompletionMessageParam]":
    return [
        {"role": "system", "content": sendable(request.system)},
        *(_message(turn) for turn in request.turns),
    ]


def _message(turn: ChatTurn) -> "ChatCompletionMessageParam":
    if turn.role == "assistant":
        return {"role": "assistant", "content": sendable(turn.text)}
    return {"role": "user", "content": sendable(turn.text)}


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


def _first_dialect(*, compatible: bool) -> Dialect:
    # OpenAI's newer models reject `max_tokens` and say so. Several compatible servers ignore
    # `max_completion_tokens` and say nothing, which leaves the answer without a limit.
    limits = (_max_completion_tokens, _max_tokens)
    limit = Feature(variants=limits[::-1] if compatible else limits, names=_LIMIT_NAMES)
    return Dialect((limit, TEMPERATURE, _FORMAT))


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


def _reply(body: bytes) -> ChatReply:
    completion = read_answer(_Completion, body)
    tokens = completion.usage or _Tokens()
    usage = Usage(
        calls=1,
        prompt_tokens=tokens.prompt_tokens or 0,
        completion_tokens=tokens.completion_tokens or 0,
    )
    if not completion.choices:
        return ChatReply(text="", finish="other", usage=usage)
    choice = completion.choices[0]
    finish = _FINISH.get(choice.finish_reason or "", "other")
    if choice.message.refusal:
        finish = "refusal"
    return ChatReply(text=choice.message.content or "", finish=finish, usage=usage)
