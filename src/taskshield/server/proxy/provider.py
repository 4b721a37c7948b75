"""The way to the model's provider and back, over pooled connections."""

import os
import ssl
import zlib
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Self
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import certifi
from multidict import CIMultiDict
from yarl import URL

from taskshield.core.errors import ConfigError
from taskshield.server.http.errors import RequestError
from taskshield.server.proxy.headers import Headers
from taskshield.settings import UpstreamSettings

_IDLE_S = 15.0
"""How long a connection is kept for the next request."""
_AT_ONCE = 512 * 1024
"""Bytes of a body that are sent in one go; longer ones must not keep others waiting."""
_LONGEST_LINE = 64 * 1024
"""Bytes of a line in the head of an answer."""
_UNASKED = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")
"""Headers that aiohttp would add of its own."""
_ZLIB = {"gzip": 31, "x-gzip": 31, "deflate": 47}
"""What `zlib` is told to undo these encodings."""


class ProviderError(RequestError):
    """The upstream could not be reached, fell silent, or answered with what is no answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRequest:
    """A request to an upstream."""

    method: str
    path: bytes
    """From "/v1" on, as it stands in the address."""
    query: bytes
    headers: Headers
    content: bytes


@dataclass(frozen=True, slots=True)
class _Base:
    """Where a provider is, and by which way it is reached."""

    url: URL
    proxy: str | None


class ProviderClient:
    """The providers that requests are sent to."""

    def __init__(self, settings: UpstreamSettings) -> None:
        """Make it ready.

        Raises:
            ConfigError: An address is wrong.
        """
        self._openai = _base("openai", settings.openai)
        self._anthropic = _base("anthropic", settings.anthropic)
        self._timeout = aiohttp.ClientTimeout(
            total=None, connect=settings.connect_s, sock_read=settings.read_s
        )
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_S, ssl=_trust()),
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

    async def send(self, asked: ProviderRequest) -> "ProviderResponse":
        """Ask, and wait for the first bytes of the answer, whatever its status.

        Raises:
            ProviderError: There is none.
            Refused: A header cannot be sent.
        """
        assert self._session is not None
        base, address = self._address(asked)
        content = asked.content
        with _failing():
            response = await self._session.request(
                asked.method,
                address,
                headers=_headers(asked.headers),
                data=BytesIO(content) if len(content) > _AT_ONCE else content or None,
                allow_redirects=False,
                proxy=base.proxy,
            )
        return ProviderResponse(response)

    def _address(self, asked: ProviderRequest) -> tuple[_Base, URL]:
        if is_anthropic(asked):
            base, path = self._anthropic, asked.path
        else:
            base, path = self._openai, asked.path.removeprefix(b"/v1")
        whole = base.url.raw_path.rstrip("/") + path.decode("latin-1")
        query = asked.query.decode("latin-1")
        return base, URL(f"{base.url.origin()}{whole}{'?' if query else ''}{query}", encoded=True)


class ProviderResponse:
    """What an upstream answers; to be closed."""

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
            ProviderError: It broke off, or there was silence for too long; or it is compressed in
                a way that nobody asked for.
        """
        encoding = self._response.headers.get("Content-Encoding", "identity").strip().lower()
        if encoding in ("", "identity"):
            async for chunk in self.raw_chunks():
                yield chunk
            return
        unpacked = _unpacker(encoding)
        try:
            async for chunk in self.raw_chunks():
                yield unpacked.decompress(chunk)
            yield unpacked.flush()
        except zlib.error:
            told = "the upstream sent what cannot be decompressed"
            raise ProviderError(502, "upstream_invalid", told) from None

    async def raw_chunks(self) -> AsyncGenerator[bytes, None]:
        """The body as it came.

        Raises:
            ProviderError: It broke off, or there was silence for too long.
        """
        with _failing():
            async for chunk in self._response.content.iter_any():
                yield chunk

    async def aclose(self) -> None:
        """Give the connection back, or close it where the body was not read to its end."""
        self._response.release()


def is_anthropic(asked: ProviderRequest) -> bool:
    """Whether a request is meant for Anthropic; the other paths under /v1 are OpenAI's.

    Both have e.g. /v1/models, but Anthropic's clients always name a version.
    """
    named = any(name == b"anthropic-version" for name, _ in asked.headers)
    return named or asked.path.startswith(b"/v1/messages")


def _base(name: str, address: str) -> _Base:
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        if usable and not parts.query and not parts.fragment:
            return _Base(URL(address), _proxy(parts.scheme, str(parts.hostname)))
    except ValueError:
        pass
    raise ConfigError(f"server.upstream.{name} must look like https://host or http://host:port/v1")


def _proxy(scheme: str, host: str) -> str | None:
    """The proxy that the environment wants for a host (`HTTPS_PROXY`, `NO_PROXY`)."""
    known = getproxies()
    return None if proxy_bypass(host) else known.get(scheme, known.get("all"))


def _trust() -> ssl.SSLContext:
    """Whose certificates are believed: what the environment names, or what browsers believe."""
    named = os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR")
    return ssl.create_default_context(cafile=None if named else certifi.where())


def _headers(headers: Headers) -> "CIMultiDict[str]":
    try:
        return CIMultiDict((name.decode(), value.decode()) for name, value in headers)
    except UnicodeDecodeError:
        raise RequestError(400, "invalid_request", "a header is not text in UTF-8") from None


def _unpacker(encoding: str) -> "zlib._Decompress":
    if encoding not in _ZLIB:
        told = "the upstream compressed its answer, which was not asked for"
        raise ProviderError(502, "upstream_invalid", told)
    return zlib.decompressobj(_ZLIB[encoding])


@contextmanager
def _failing() -> Iterator[None]:
    """Say it in our words when the way to the upstream fails; aiohttp may quote the address."""
    try:
        yield
    except TimeoutError:
        raise ProviderError(
            504, "upstream_timeout", "the upstream did not answer in time"
        ) from None
    except aiohttp.ClientConnectorError:
        raise ProviderError(502, "upstream_unreachable", "the upstream cannot be reached") from None
    except (aiohttp.ClientError, OSError):
        raise ProviderError(
            502, "upstream_broke_off", "the connection to the upstream broke off"
        ) from None
