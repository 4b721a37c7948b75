"""The way to the model's provider and back, over pooled connections.

Knows HTTP, and which provider a path belongs to. What requests and responses say is not its matter.
"""

import json
import os
import ssl
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Self
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import certifi
from multidict import CIMultiDict
from yarl import URL

from taskshield.adapters.proxy.exchange import Body
from taskshield.core.errors import ConfigError, ConversationError, WireFormatError
from taskshield.server.http.errors import RequestError
from taskshield.server.proxy.decompression import decompressed
from taskshield.server.proxy.headers import Headers, is_plain
from taskshield.settings import UpstreamSettings

_IDLE_S = 15.0
"""How long a connection is kept for the next request."""
_AT_ONCE = 512 * 1024
"""Bytes of a body that are sent in one go; longer ones must not keep other requests waiting."""
_LONGEST_LINE = 64 * 1024
"""Bytes of a line in the head of a response."""
_UNASKED = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")
"""Headers that aiohttp would add by itself."""


class ProviderError(RequestError):
    """The provider could not be reached, fell silent, or sent what is not a response."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRequest:
    """A request to a provider."""

    method: str
    path: bytes
    """From "/v1" on, as it stands in the address."""
    query: bytes
    headers: Headers
    content: bytes

    def with_body(self, body: Body) -> "ProviderRequest":
        """The same with another body."""
        return replace(self, content=json.dumps(body).encode())


@dataclass(frozen=True, slots=True)
class _Address:
    """Where a provider is, and the HTTP proxy on the way to it."""

    url: URL
    proxy: str | None


class ProviderClient:
    """Sends requests to the providers in the settings."""

    def __init__(self, settings: UpstreamSettings) -> None:
        """Read the settings; connections are made when it is entered.

        Raises:
            ConfigError: An address is wrong.
        """
        self._openai = _address("openai", settings.openai)
        self._anthropic = _address("anthropic", settings.anthropic)
        self._timeout = aiohttp.ClientTimeout(
            total=None, connect=settings.connect_s, sock_read=settings.read_s
        )
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_S, ssl=_ssl_context()),
            timeout=self._timeout,
            # A cookie that one client is given must not be sent along with another's request.
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=_UNASKED,
            auto_decompress=False,
            max_line_size=_LONGEST_LINE,
            max_field_size=_LONGEST_LINE,
        )
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._session is not None:
            await self._session.close()

    async def send(self, request: ProviderRequest) -> "ProviderResponse":
        """Send a request, and wait for the head of the response, whatever its status.

        Raises:
            ProviderError: There is none.
            RequestError: A header cannot be sent.
        """
        assert self._session is not None
        address, url = self._url(request)
        content = request.content
        with _as_provider_errors():
            response = await self._session.request(
                request.method,
                url,
                headers=_headers(request.headers),
                data=BytesIO(content) if len(content) > _AT_ONCE else content or None,
                allow_redirects=False,
                proxy=address.proxy,
            )
        return ProviderResponse(response)

    def _url(self, request: ProviderRequest) -> tuple[_Address, URL]:
        if _is_for_anthropic(request):
            address, path = self._anthropic, request.path
        else:
            address, path = self._openai, request.path.removeprefix(b"/v1")
        whole = address.url.raw_path.rstrip("/") + path.decode("latin-1")
        query = request.query.decode("latin-1")
        separator = "?" if query else ""
        url = f"{address.url.origin()}{whole}{separator}{query}"
        return address, URL(url, encoded=True)


class ProviderResponse:
    """A provider's response, which must be closed."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self._response.status

    @property
    def ok(self) -> bool:
        """Whether the request was carried out."""
        return 200 <= self.status < 300

    @property
    def headers(self) -> Headers:
        """As they came."""
        return list(self._response.raw_headers)

    @property
    def is_stream(self) -> bool:
        """Whether the body is a stream of events."""
        return self._response.content_type == "text/event-stream"

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body, decompressed.

        Raises:
            ProviderError: It is not complete, or there was silence for too long.
            WireFormatError: Clients could read it as something else than it is here.
        """
        if not is_plain(self.headers):
            raise WireFormatError("its headers say several things about the body")
        encoding = self._response.headers.get("Content-Encoding", "").strip().lower()
        async for chunk in decompressed(self.raw_chunks(), encoding):
            yield chunk

    async def raw_chunks(self) -> AsyncGenerator[bytes, None]:
        """The body as it came.

        Raises:
            ProviderError: It is not complete, or there was silence for too long.
        """
        with _as_provider_errors():
            async for chunk in self._response.content.iter_any():
                yield chunk

    async def aclose(self) -> None:
        """Give the connection back, or close it where the body was not read to its end."""
        self._response.release()


def redirected() -> ProviderError:
    """The error for a response that names another address."""
    return ProviderError(
        502,
        "upstream_redirects",
        "The provider answered with a redirect. Redirects are not followed.",
    )


def incomplete() -> ProviderError:
    """The error for a response that ends too early."""
    return ProviderError(
        502,
        "upstream_broke_off",
        "The provider closed the connection before its response was complete.",
    )


def invalid(error: WireFormatError | ConversationError) -> ProviderError:
    """The error for a response that is not in its wire format."""
    return ProviderError(
        502, "upstream_invalid", f"The provider's response is not in the expected format: {error}"
    )


def _is_for_anthropic(request: ProviderRequest) -> bool:
    """Whether a request is meant for Anthropic; the other paths under /v1 are OpenAI's.

    Both have e.g. /v1/models, but Anthropic's clients always name a version.
    """
    named = any(name == b"anthropic-version" for name, _ in request.headers)
    return named or request.path.startswith(b"/v1/messages")


def _address(name: str, address: str) -> _Address:
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        if usable and not parts.query and not parts.fragment:
            return _Address(URL(address), _proxy(parts.scheme, str(parts.hostname)))
    except ValueError:
        pass
    raise ConfigError(f"server.upstream.{name} must look like https://host or http://host:port/v1")


def _proxy(scheme: str, host: str) -> str | None:
    """The HTTP proxy that the environment names for a host (`HTTPS_PROXY`, `NO_PROXY`)."""
    known = getproxies()
    return None if proxy_bypass(host) else known.get(scheme, known.get("all"))


def _ssl_context() -> ssl.SSLContext:
    """Trusts the certificates that the environment names, otherwise those that browsers trust."""
    named = os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR")
    return ssl.create_default_context(cafile=None if named else certifi.where())


def _headers(headers: Headers) -> "CIMultiDict[str]":
    try:
        return CIMultiDict((name.decode(), value.decode()) for name, value in headers)
    except UnicodeDecodeError:
        raise RequestError(
            400, "invalid_request", "A header of the request is not text in UTF-8."
        ) from None


@contextmanager
def _as_provider_errors() -> Iterator[None]:
    """Raise aiohttp's errors in plain words; its own messages may quote the address."""
    try:
        yield
    except TimeoutError:
        raise ProviderError(
            504, "upstream_timeout", "The provider did not answer in time."
        ) from None
    except aiohttp.ClientConnectorError:
        raise ProviderError(
            502, "upstream_unreachable", "The provider cannot be reached."
        ) from None
    except (aiohttp.ClientError, OSError):
        raise incomplete() from None
