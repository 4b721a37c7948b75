"""Anthropic's messages API."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel, NonNegativeInt

from taskshield.clients.json_text import encodable, read_answer
from taskshield.clients.negotiation import TEMPERATURE, Dialect, Feature, left_out
from taskshield.clients.transport import Sdk, SdkClient, SdkOptions, usage_of
from taskshield.core.chat import ChatReply, ChatRequest, ChatTurn, FinishReason
from taskshield.core.errors import MissingExtraError

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


class AnthropicClient(SdkClient[anthropic.AsyncAnthropic]):
    """A model behind Anthropic's API."""

    provider = "anthropic"
    key_variable = "ANTHROPIC_API_KEY"
    sdk: ClassVar[Sdk] = anthropic

    def _connect(self, options: SdkOptions) -> anthropic.AsyncAnthropic:
        return anthropic.AsyncAnthropic(**options)

    def _first_dialect(self, *, compatible: bool) -> Dialect:
        return Dialect((TEMPERATURE, _FORMAT))

    async def _send(self, request: ChatRequest, fields: Mapping[str, object]) -> bytes:
        response = await self._connection.messages.with_raw_response.create(
            model=self._model,
            system=encodable(request.system),
            messages=[_message(turn) for turn in request.turns],
            max_tokens=request.max_tokens,
            # The SDK's signature no longer has a temperature; the API of older models still does.
            extra_body=fields,
        )
        return await response.read()

    def _read(self, body: bytes) -> ChatReply:
        message = read_answer(_Message, body)
        tokens = message.usage or _Tokens()
        return ChatReply(
            text="".join(block.text or "" for block in message.content if block.type == "text"),
            finish=_FINISH.get(message.stop_reason or "", "other"),
            usage=usage_of(prompt=tokens.input_tokens, completion=tokens.output_tokens),
        )


def _message(turn: ChatTurn) -> "MessageParam":
    if turn.role == "assistant":
        return {"role": "assistant", "content": encodable(turn.text)}
    return {"role": "user", "content": encodable(turn.text)}


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
