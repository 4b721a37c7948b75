"""What every client does around a request to its provider.

Finds the key, limits the time, retries, adapts the request to what the endpoint accepts, and turns
every failure into an `UpstreamError`. A provider's module adds what its API differs in: the SDK,
the body of a request, the shape of an answer.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, Protocol, TypedDict, TypeVar

from taskshield.clients.endpoint import check_base_url, resolve_key
from taskshield.clients.failures import Failure, refused, timed_out, unexpected, unreachable
from taskshield.clients.negotiation import Dialect, Negotiator
from taskshield.core.chat import ChatReply, ChatRequest
from taskshield.core.usage import Usage


class SdkOptions(TypedDict):
    """What the constructors of both SDKs take."""

    api_key: str
    base_url: str | None
    timeout: float
    max_retries: int


class SdkConnection(Protocol):
    """The client object of an SDK."""

    async def close(self) -> None:
        """Close the connection pool."""
        ...


class Sdk(Protocol):
    """The errors of an SDK. Both SDKs are generated alike, so the module itself has these names."""

    @property
    def APITimeoutError(self) -> type[Exception]:
        """The endpoint did not answer in time; a kind of connection error."""
        ...

    @property
    def APIConnectionError(self) -> type[Exception]:
        """There was no connection, or it broke."""
        ...

    @property
    def APIStatusError(self) -> type[Any]:
        """The endpoint answered with an error status."""
        ...


ConnectionT = TypeVar("ConnectionT", bound=SdkConnection)


class SdkClient(ABC, Generic[ConnectionT]):
    """A `ChatClient` over a provider's SDK. Safe for concurrent use within one event loop."""

    provider: ClassVar[str]
    """First part of the client's name."""
    key_variable: ClassVar[str]
    """The environment variable that holds the key."""
    sdk: ClassVar[Sdk]
    """The SDK's module."""

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
            base_url: Address of a compatible endpoint. None: the provider's, or the one in the
                SDK's own environment variable (OPENAI_BASE_URL, ANTHROPIC_BASE_URL).
            api_key: None: the key in the provider's environment variable. If that is not set
                either, a `base_url` gets a placeholder. Other sources of the SDKs, such as tokens
                and profiles on disk, are not used.
            timeout_s: How long one attempt may wait to connect, to send or to receive.
            retries: Further attempts after 429, 5xx, a timeout or a broken connection.

        Raises:
            ConfigError: There is no usable key or address.
        """
        check_base_url(base_url)
        key = resolve_key(api_key, base_url=base_url, variable=self.key_variable)
        self._model = model
        self._connection = self._connect(
            SdkOptions(api_key=key, base_url=base_url, timeout=timeout_s, max_retries=retries)
        )
        self._negotiator = Negotiator(self._first_dialect(compatible=base_url is not None))

    @property
    def name(self) -> str:
        """Provider and model."""
        return f"{self.provider}:{self._model}"

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Ask the model once.

        Raises:
            UpstreamError: The endpoint gave no answer, or none that can be read.
        """
        return self._read(await self._negotiator.ask(request, self._post))

    async def aclose(self) -> None:
        """Close the connection pool."""
        await self._connection.close()

    @abstractmethod
    def _connect(self, options: SdkOptions) -> ConnectionT:
        """Make the SDK's client object."""

    @abstractmethod
    def _first_dialect(self, *, compatible: bool) -> Dialect:
        """What to send at first; `compatible` if the endpoint may not be the provider's own."""

    @abstractmethod
    async def _send(self, request: ChatRequest, fields: Mapping[str, object]) -> bytes:
        """Send a request with these further fields; the body of the answer."""

    @abstractmethod
    def _read(self, body: bytes) -> ChatReply:
        """Read the body of a successful answer. It is untrusted.

        Raises:
            UpstreamError: It cannot be read.
        """

    async def _post(self, request: ChatRequest, fields: Mapping[str, object]) -> bytes | Failure:
        try:
            return await self._send(request, fields)
        except Exception as error:
            return _failure(error, self.sdk)


def usage_of(*, prompt: int | None, completion: int | None) -> Usage:
    """The usage of one call; tokens that the endpoint does not report count as none."""
    return Usage(calls=1, prompt_tokens=prompt or 0, completion_tokens=completion or 0)


def _failure(error: Exception, sdk: Sdk) -> Failure:
    """What an exception of the SDK, or of the layers below it, means to the caller."""
    if isinstance(error, sdk.APITimeoutError):
        return timed_out()
    if isinstance(error, sdk.APIConnectionError):
        return unreachable()
    if isinstance(error, sdk.APIStatusError):
        return refused(error.status_code, error.body, error.response.text)
    # The SDKs let some errors of the layers below pass as they are, such as a body that cannot be
    # encoded. To the caller these are outages as well, and their text may quote the request.
    return unexpected(error)
