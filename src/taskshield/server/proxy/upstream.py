"""The way to the model's provider and back, over pooled connections."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Self
from urllib.parse import urlsplit

import httpx

from taskshield.core.errors import ConfigError
from taskshield.server.errors import Refused
from taskshield.server.proxy.headers import Headers
from taskshield.settings import UpstreamSettings

_IDLE_CONNECTIONS = 256
"""Connections that are kept for the next request."""


class UpstreamFailed(Refused):
    """The upstream could not be reached, fell silent, or answered with what is no answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request to an upstream."""

    method: str
    path: bytes
    """From "/v1" on, as it stands in the address."""
    query: bytes
    headers: Headers
    content: bytes


class Upstream:
    """The providers that requests are sent to."""

    def __init__(self, settings: UpstreamSettings) -> None:
        """Make it ready.

        Raises:
            ConfigError: An address is wrong.
        """
        self._openai = _base("openai", settings.openai)
        self._anthropic = _base("anthropic", settings.anthropic)
        self._timeout = httpx.Timeout(settings.read_s, connect=settings.connect_s).as_dict()
        self._client = httpx.AsyncClient(
            timeout=None,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=_IDLE_CONNECTIONS),
            # A cookie that one client is given must not be sent along with another's request.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._client.aclose()

    async def send(self, asked: Asked) -> "Answered":
        """Ask, and wait for the first bytes of the answer, whatever its status.

        Raises:
            UpstreamFailed: There is none.
        """
        request = httpx.Request(
            asked.method,
            self._address(asked),
            headers=asked.headers,
            content=asked.content,
            extensions={"timeout": self._timeout},
        )
        with _failing():
            return Answered(await self._client.send(request, stream=True))

    def _address(self, asked: Asked) -> httpx.URL:
        if is_anthropic(asked):
            base, path = self._anthropic, asked.path
        else:
            base, path = self._openai, asked.path.removeprefix(b"/v1")
        whole = base.raw_path.rstrip(b"/") + path
        return base.copy_with(raw_path=whole + b"?" + asked.query if asked.query else whole)


class Answered:
    """What an upstream answers; to be closed."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self._response.status_code

    @property
    def ok(self) -> bool:
        """Whether the request was carried out."""
        return self._response.is_success

    @property
    def headers(self) -> Headers:
        """As they came."""
        return self._response.headers.raw

    @property
    def is_stream(self) -> bool:
        """Whether the body is a stream of events."""
        kind: str = self._response.headers.get("content-type", "")
        return kind.partition(";")[0].strip().lower() == "text/event-stream"

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body, decompressed.

        Raises:
            UpstreamFailed: It broke off, or there was silence for too long.
        """
        with _failing():
            async for chunk in self._response.aiter_bytes():
                yield chunk

    async def raw_chunks(self) -> AsyncGenerator[bytes, None]:
        """The body as it came.

        Raises:
            UpstreamFailed: It broke off, or there was silence for too long.
        """
        with _failing():
            async for chunk in self._response.aiter_raw():
                yield chunk

    async def aclose(self) -> None:
        """Give the connection back, or close it where the body was not read to its end."""
        await self._response.aclose()


def is_anthropic(asked: Asked) -> bool:
    """Whether a request is meant for Anthropic; the other paths under /v1 are OpenAI's.

    Both have e.g. /v1/models, but Anthropic's clients always name a version.
    """
    named = any(name == b"anthropic-version" for name, _ in asked.headers)
    return named or asked.path.startswith(b"/v1/messages")


def _base(name: str, address: str) -> httpx.URL:
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        if usable and not parts.query and not parts.fragment:
            return httpx.URL(address)
    except (ValueError, httpx.InvalidURL):
        pass
    raise ConfigError(f"server.upstream.{name} must look like https://host or http://host:port/v1")


@contextmanager
def _failing() -> Iterator[None]:
    """Say it in our words when the way to the upstream fails; httpx may quote the address."""
    try:
        yield
    except httpx.TimeoutException:
        raise UpstreamFailed(
            504, "upstream_timeout", "the upstream did not answer in time"
        ) from None
    except httpx.ConnectError:
        raise UpstreamFailed(
            502, "upstream_unreachable", "the upstream cannot be reached"
        ) from None
    except httpx.RequestError:
        raise UpstreamFailed(
            502, "upstream_broke_off", "the connection to the upstream broke off"
        ) from None
