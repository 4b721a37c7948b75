"""Anthropic's messages API."""

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
    import anthropic
except ImportError as error:
    raise MissingExtraError("anthropic", "anthropic") from error

if TYPE_CHECKING:
    from anthropic.types import MessageParam

_FINISH: Mapping[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}


class AnthropicClient:
    """A model behind Anthropic's API. Safe for concurrent use within one event loop."""

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
            base_url: Address of a compatible endpoint. None: Anthropic's, or that in
                ANTHROPIC_BASE_URL.
            api_key: None: ANTHROPIC_API_KEY; without that either, a `base_url` gets a placeholder.
                The SDK's other sources (tokens, profiles on disk) are not used.
            timeout_s: How long an attempt may wait for the endpoint to take or send anything.
            retries: Further attempts after 429, 5xx, a timeout or a broken connection.

        Raises:
            ConfigError: There is no usable key or address.
        """
        check_base_url(base_url)
        key = resolve_key(api_key, base_url=base_url, variable="ANTHROPIC_API_KEY")
        self._model = model
        self._sdk = anthropic.AsyncAnthropic(
            api_key=key, base_url=base_url, timeout=timeout_s, max_retries=retries
        )
        self._negotiator = Negotiator(Dialect((TEMPERATURE, _FORMAT)))

    @property
    def name(self) -> str:
        """Provider and model."""
        return f"anthropic:{self._model}"

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
            response = await self._sdk.messages.with_raw_response.create(
                model=self._model,
                system=sendable(request.system),
                messages=[_message(turn) for turn in request.turns],
                max_tokens=request.max_tokens,
                # The SDK's signature has no temperature any more, the API of older models does.
                extra_body=fields,
            )
            return await response.read()
        except anthropic.APITimeoutError:
            return timed_out()
        except anthropic.APIConnectionError:
            return unreachable()
        except anthropic.APIStatusError as error:
            return refused(error.status_code, error.body, error.response.text)
        except Exception as error:
            # What is left comes from the layers below, such as a body that cannot be encoded. To
            # the caller it is an outage as well, and its text may quote the request.
            return unexpected(error)


def _message(turn: ChatTurn) -> "MessageParam":
    if turn.role == "assistant":
        return {"role": "assistant", "content": sendable(turn.text)}
    return {"role": "user", "content": sendable(turn.text)}


def _json_schema(request: ChatRequest) -> Mapping[str, object]:
    return {"output_config": {"format": {"type": "json_schema", "schema": request.schema}}}


_FORMAT = Feature(
    variants=(_json_schema, left_out),
    names=("output_config", "output_format", "json_schema", "json schema", "grammar", "structured"),
    suspect=True,
)


class _Block(BaseModel):
    type: str
    text: str | None = None


class _Tokens(BaseModel):
    input_tokens: NonNegativeInt | None = None
    output_tokens: NonNegativeInt | None = None


class _Message(BaseModel):
    content: list[_Block]
    stop_reason: str | None = None
    usage: _Tokens | None = None


def _reply(body: bytes) -> ChatReply:
    message = read_answer(_Message, body)
    tokens = message.usage or _Tokens()
    return ChatReply(
        text="".join(block.text or "" for block in message.content if block.type == "text"),
        finish=_FINISH.get(message.stop_reason or "", "other"),
        usage=Usage(
            calls=1,
            prompt_tokens=tokens.input_tokens or 0,
            completion_tokens=tokens.output_tokens or 0,
        ),
    )
