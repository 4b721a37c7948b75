"""Authorizes requests: whose tenant they belong to, and what they may do.

A request is authorized by an API key or by a login on the dashboard. As long as the store has no
key, a server that listens on a loopback address needs none.
"""

import hmac
import time
from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request

from taskshield.core.store import ApiKey, Scope, Store
from taskshield.server.access.api_keys import KEY_HEADERS, is_valid, key_hash, key_in
from taskshield.server.access.local_requests import is_from_this_machine, is_loopback
from taskshield.server.access.logins import COOKIE, Logins
from taskshield.server.access.rate_limits import RateLimiter
from taskshield.server.bounded_cache import BoundedCache
from taskshield.server.http.errors import RequestError

DEFAULT_TENANT = "default"
AGENT_HEADER = "x-taskshield-agent"
"""Names the agent, where several agents share a key."""

_LOGINS_PER_MINUTE = 30
"""Logins that one address may try."""

_CACHE_S = 5.0
"""Seconds for which a key is cached: a revoked key works no longer than that."""
_CACHED_KEYS = 10_000
_LONGEST_AGENT = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who sent a request that is authorized."""

    tenant: str
    name: str
    """Name of the key."""
    agent: str | None = None
    """The agent that the request names, or else the name of the key; None without both."""


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
            if not is_from_this_machine(request):
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
        if key is None or not is_valid(key):
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


def _agent_name(request: Request) -> str | None:
    name = request.headers.get(AGENT_HEADER, "").strip()
    if len(name) > _LONGEST_AGENT:
        message = f"The header {AGENT_HEADER} has more than {_LONGEST_AGENT} characters."
        raise RequestError(400, "invalid_request", message)
    return name or None


def _take(limiter: RateLimiter, who: str, per_minute: int) -> None:
    wait = limiter.take(who, per_minute)
    if wait is not None:
        raise RequestError(
            429,
            "rate_limited",
            f"More than {per_minute} requests in one minute. Try again in {wait} seconds.",
            {"retry-after": str(wait)},
        )


def _unauthenticated(message: str) -> RequestError:
    return RequestError(401, "unauthenticated", message, {"www-authenticate": "Bearer"})
