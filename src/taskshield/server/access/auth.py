"""API keys: which tenant a request belongs to, and what it may do.

A key is "tsk_" and random letters. Only its hash is stored, so the store does not reveal keys. As
long as the store has no key, a server that listens on a loopback address needs none.
"""

import hmac
import ipaddress
import re
import secrets
import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import get_args

from starlette.datastructures import Headers
from starlette.requests import Request

from taskshield.core.errors import ConfigError
from taskshield.core.store import ApiKey, Scope, Store
from taskshield.server.access.logins import COOKIE, Logins
from taskshield.server.access.rate_limits import RateLimiter
from taskshield.server.bounded_cache import BoundedCache
from taskshield.server.http.errors import RequestError

KEY_PREFIX = "tsk_"
KEY_HEADERS = ("x-taskshield-key", "ocp-apim-subscription-key", "x-api-key", "authorization")
"""Headers that may have a key. Values without our prefix are ignored: at the proxy, these
headers may also have the key for the client's provider."""
DEFAULT_TENANT = "default"
AGENT_HEADER = "x-taskshield-agent"
"""Names the agent, where several agents share a key."""
SCOPES: frozenset[Scope] = frozenset(get_args(Scope))

_LOGINS_PER_MINUTE = 30
"""Logins that one address may try."""

_CACHE_S = 5.0
"""Seconds for which a key is cached: a revoked key works no longer than that."""
_CACHED_KEYS = 10_000
_LONGEST_TENANT = 100
_LONGEST_AGENT = 128
_PORT = re.compile(r":[0-9]*\Z")
_FORWARDING = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
"""Headers of a request that a proxy forwarded: its sender is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who sent a request that is authorized."""

    tenant: str
    name: str
    """Name of the key."""
    agent: str | None = None
    """The agent that the request names, or else the name of the key; None without both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A new key. Its secret cannot be read again later."""

    secret: str
    stored: ApiKey
    """The key as the store has it: without the secret."""


def new_key(
    *,
    tenant: str,
    name: str,
    scopes: Iterable[Scope],
    per_minute: int | None = None,
    lifetime: timedelta | None = None,
) -> NewKey:
    """Make a key.

    Raises:
        ConfigError: The name of the tenant is not valid.
    """
    # Names that are not printable are the server's own: see `routes.agent_hooks.session_memory`.
    if not (0 < len(tenant) <= _LONGEST_TENANT and tenant.isprintable()):
        raise ConfigError(
            f"The name of a tenant must have 1 to {_LONGEST_TENANT} printable characters."
        )
    secret = KEY_PREFIX + secrets.token_urlsafe(32)
    now = datetime.now(UTC)
    stored = ApiKey(
        id=uuid.uuid4().hex[:12],
        tenant=tenant,
        name=name,
        hash=key_hash(secret),
        scopes=frozenset(scopes),
        per_minute=per_minute,
        created_at=now,
        expires_at=None if lifetime is None else now + lifetime,
    )
    return NewKey(secret=secret, stored=stored)


def key_hash(secret: str) -> str:
    """The hash of a key. Keys are long and random, so no salt is needed."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def is_loopback(host: str) -> bool:
    """Whether only programs on this machine can reach an address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


async def check_binding(host: str, store: Store) -> None:
    """Check that a server which other machines can reach needs an API key.

    Raises:
        ConfigError: It does not: the store has no key.
    """
    if not is_loopback(host) and not await store.keys():
        raise ConfigError(
            f"server.host: other machines can reach {host}, but there is no API key. Create one"
            " with `taskshield keys create`, or listen on 127.0.0.1."
        )


class Auth:
    """Authorizes requests by their API keys and logins."""

    def __init__(
        self,
        store: Store,
        *,
        host: str,
        per_minute: int | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._loopback = is_loopback(host)
        self._per_minute = per_minute
        self._clock = clock
        self._requests = RateLimiter(clock)
        self._keys: BoundedCache[str, tuple[ApiKey, float]] = BoundedCache(_CACHED_KEYS)
        self._no_keys_at: tuple[bool, float] | None = None
        self._logins = Logins(store)
        self._attempts = RateLimiter(clock)

    async def authorize(self, request: Request, scope: Scope, *others: Scope) -> Caller:
        """The caller, whose key must have one of these scopes; "admin" includes them all.

        Raises:
            RequestError: There is no valid key, it has none of these scopes, it has made too many
                requests, or the name of the agent is too long.
        """
        key = await self.identify(request)
        agent = _agent_name(request)
        if key is None:
            return Caller(tenant=DEFAULT_TENANT, name="nobody", agent=agent)
        if not key.scopes & {scope, *others, "admin"}:
            needed = " or ".join((scope, *others))
            raise RequestError(403, "forbidden", f"The API key lacks the scope {needed}.")
        self._limit(key)
        return Caller(tenant=key.tenant, name=key.name, agent=agent or key.name)

    async def identify(self, request: Request) -> ApiKey | None:
        """The key of a request; None where it needs none.

        Raises:
            RequestError: There is no valid key.
        """
        hash = await self._key_hash(request)
        if hash is None:
            if not self._loopback or not await self._no_keys():
                raise _unauthenticated(
                    f"An API key is needed. Send it in the header {KEY_HEADERS[0]}."
                )
            if not _from_this_machine(request):
                raise _unauthenticated(
                    "Without an API key, only programs on this machine may send requests."
                )
            return None
        return await self._valid_key(hash)

    async def log_in(self, request: Request, secret: str) -> str:
        """Log in on the dashboard with a key.

        Returns:
            The cookie that from then on stands for the key.

        Raises:
            RequestError: The key is not valid, or there were too many attempts.
        """
        address = "" if request.client is None else request.client.host
        _take(self._attempts, address, _LOGINS_PER_MINUTE)
        key = await self._valid_key(key_hash(secret))
        return await self._logins.create(key.hash)

    async def log_out(self, request: Request) -> None:
        """Delete the login of this request, if it has one.

        Raises:
            RequestError: The request does not come from the dashboard.
        """
        if await self._logins.key_hash(request) is not None:
            await self._logins.delete(request)

    async def _key_hash(self, request: Request) -> str | None:
        """The hash of the request's key; None where it has none."""
        secret = key_in(request.headers)
        if secret is not None:
            return key_hash(secret)
        if COOKIE not in request.cookies or not request.state.surface.logins:
            return None
        return await self._logins.key_hash(request)

    async def _valid_key(self, hash: str) -> ApiKey:
        key = await self._key(hash)
        if key is None or not _is_valid(key):
            raise _unauthenticated("The API key is unknown, expired or revoked.")
        return key

    async def _key(self, hash: str) -> ApiKey | None:
        known = self._keys.get(hash)
        if known is not None and self._clock() - known[1] < _CACHE_S:
            return known[0]
        key = await self._store.key(hash)
        if key is None or not hmac.compare_digest(key.hash, hash):
            return None
        self._keys.put(hash, (key, self._clock()))
        return key

    async def _no_keys(self) -> bool:
        """Whether there never was a key. After the last key is revoked, a key is still needed."""
        if self._no_keys_at is None or self._clock() - self._no_keys_at[1] >= _CACHE_S:
            self._no_keys_at = (not await self._store.keys(), self._clock())
        return self._no_keys_at[0]

    def _limit(self, key: ApiKey) -> None:
        per_minute = self._per_minute if key.per_minute is None else key.per_minute
        if per_minute is not None:
            _take(self._requests, key.id, per_minute)


def key_in(headers: Headers) -> str | None:
    """The first value in the headers that looks like an API key."""
    for header in KEY_HEADERS:
        value = headers.get(header, "").strip()
        if header == "authorization":
            scheme, _, value = value.partition(" ")
            value = value.strip() if scheme.lower() == "bearer" else ""
        if value.startswith(KEY_PREFIX):
            return value
    return None


def _agent_name(request: Request) -> str | None:
    name = request.headers.get(AGENT_HEADER, "").strip()
    if len(name) > _LONGEST_AGENT:
        message = f"The header {AGENT_HEADER} has more than {_LONGEST_AGENT} characters."
        raise RequestError(400, "invalid_request", message)
    return name or None


def _from_this_machine(request: Request) -> bool:
    """Whether the request comes from a program on this machine.

    A web page in the user's browser can reach this machine as well. Then the browser names the page
    as origin, or the request has the page's host name. A proxy may add headers that say what it is.
    """
    headers = request.headers
    if request.client is None or any(name in headers for name in _FORWARDING):
        return False
    if headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        return False  # another page, or a page of another server on this machine
    # As it was sent: the framework replaces a name that it cannot parse with our own address.
    hosts = headers.getlist("host")
    origins = [origin.partition("://")[2] for origin in headers.getlist("origin")]
    names = [_PORT.sub("", name) for name in (*hosts, *origins)]
    return bool(hosts) and all(map(is_loopback, (request.client.host, *names)))


def _take(limiter: RateLimiter, who: str, per_minute: int) -> None:
    wait = limiter.take(who, per_minute)
    if wait is not None:
        raise RequestError(
            429,
            "rate_limited",
            f"More than {per_minute} requests in one minute. Try again in {wait} seconds.",
            {"retry-after": str(wait)},
        )


def _is_valid(key: ApiKey) -> bool:
    expired = key.expires_at is not None and key.expires_at <= datetime.now(UTC)
    return key.revoked_at is None and not expired


def _unauthenticated(message: str) -> RequestError:
    return RequestError(401, "unauthenticated", message, {"www-authenticate": "Bearer"})
