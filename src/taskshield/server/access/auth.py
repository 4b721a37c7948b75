"""Authorizes requests: whose tenant they belong to, and what they may do.

A request is authorized by an API key or by a login on the dashboard. As long as the store has no
key, a server that listens on a loopback address lets the programs of its machine have messages
checked without one. One of them may be an agent, so nothing else is allowed to them.
"""

import hmac
import time
from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request

from taskshield.core.store import ApiKey, Scope, Store
from taskshield.server.access.api_keys import KEY_HEADERS, SCOPES, is_valid, key_hash, key_in
from taskshield.server.access.local_requests import is_from_this_machine, is_loopback
from taskshield.server.access.login_link import LoginLink
from taskshield.server.access.logins import COOKIE, Logins, NewLogin, check_sent_by_page
from taskshield.server.access.rate_limits import RateLimiter, sender
from taskshield.server.bounded_cache import BoundedCache
from taskshield.server.http.errors import RequestError

DEFAULT_TENANT = "default"
AGENT_HEADER = "x-taskshield-agent"
"""Names the agent, where several agents share a key."""

_LOGINS_PER_MINUTE = 30
"""Logins that one address may try."""
_FAILURES_PER_MINUTE = 60
"""Requests with a wrong key that one address may send; after that, unknown keys are not read."""

_CACHE_S = 5.0
"""Seconds for which a key is cached: a revoked key works no longer than that."""
_CACHED_KEYS = 10_000
_LONGEST_AGENT = 128
_LOGIN_NEEDED = (
    "An agent may have sent this request, so a login or an API key is needed. Log in with the link"
    f" that `taskshield serve` prints, or send a key in the header {KEY_HEADERS[0]}."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Whom a request is from."""

    tenant: str
    name: str
    """Name of the key."""
    scopes: frozenset[Scope]
    key: ApiKey | None = None
    """None for a login with the link of this server, and for a program of this machine."""


OWNER = Identity(tenant=DEFAULT_TENANT, name="owner", scopes=SCOPES)
"""The person who started the server, logged in with its link."""
LOCAL_PROGRAM = Identity(tenant=DEFAULT_TENANT, name="nobody", scopes=frozenset())
"""A program of this machine, where no key is needed: it may be an agent."""


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
        link: LoginLink | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._loopback = is_loopback(host)
        self._per_minute = per_minute
        self._clock = clock
        self._requests = RateLimiter(clock)
        self._failures = RateLimiter(clock)
        self._attempts = RateLimiter(clock)
        self._keys: BoundedCache[str, tuple[ApiKey, float]] = BoundedCache(_CACHED_KEYS)
        self._no_keys_at: tuple[bool, float] | None = None
        self._logins = Logins(store)
        self._link = link

    async def authorize(
        self, request: Request, scope: Scope, *others: Scope, local: bool = False
    ) -> Caller:
        """The caller, whose key must have one of these scopes; "admin" includes them all.

        Args:
            request: The request.
            scope: A scope that is enough.
            *others: Others that are enough.
            local: Whether a program of this machine needs no key, as long as there are none.

        Raises:
            RequestError: There is no valid key, it has none of these scopes, it has made too many
                requests, or the name of the agent is too long.
        """
        who = await self.admit(request)
        agent = _agent_name(request)
        if who is LOCAL_PROGRAM:
            if not local:
                raise _unauthenticated(_LOGIN_NEEDED)
        elif not who.scopes & {scope, *others, "admin"}:
            needed = " or ".join((scope, *others))
            raise RequestError(403, "forbidden", f"The API key lacks the scope {needed}.")
        named = agent if agent is not None or who.key is None else who.name
        return Caller(tenant=who.tenant, name=who.name, agent=named)

    async def admit(self, request: Request) -> Identity:
        """Whom a request is from. Counted once for each request, before its body is read.

        Raises:
            RequestError: There is no valid key, or it has made too many requests.
        """
        known: Identity | None = getattr(request.state, "identity", None)
        if known is None:
            known = request.state.identity = await self.identify(request)
            if known.key is not None:
                self._limit(known.key)
        return known

    async def identify(self, request: Request) -> Identity:
        """Whom a request is from.

        Raises:
            RequestError: There is no valid key.
        """
        if await self._is_owner(request):
            return OWNER
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
            return LOCAL_PROGRAM
        key = await self._valid_key(hash, request)
        return Identity(tenant=key.tenant, name=key.name, scopes=key.scopes, key=key)

    async def link_works(self) -> bool:
        """Whether a person can log in with the link of this server."""
        return self._link is not None and await self._no_keys()

    def count_login(self, request: Request) -> None:
        """Count an attempt to log in, before anything of it is read.

        Raises:
            RequestError: There were too many from this address.
        """
        _take(self._attempts, _address(request), _LOGINS_PER_MINUTE)

    async def log_in_with_link(self, request: Request, token: str) -> NewLogin:
        """Log in on the dashboard with the token of this server's link.

        Raises:
            RequestError: The token is wrong or was used, the server needs keys, or the request
                comes from another machine.
        """
        made = None
        if self._link is not None and await self.link_works() and is_from_this_machine(request):
            made = self._link.log_in(token)
        if made is None:
            raise _unauthenticated(
                "This link does not work, or was used already. The terminal in which the server"
                " runs shows a new one."
            )
        return made

    async def log_in(self, request: Request, secret: str) -> NewLogin:
        """Log in on the dashboard with a key.

        Raises:
            RequestError: The key is not valid.
        """
        key = await self._valid_key(key_hash(secret), request)
        return await self._logins.create(key.hash)

    async def log_out(self, request: Request) -> None:
        """Delete the login of this request, if it has one.

        Raises:
            RequestError: The request does not come from the dashboard.
        """
        if self._link is not None and await self._is_owner(request):
            self._link.log_out(request.cookies[COOKIE])
        elif await self._logins.key_hash(request) is not None:
            await self._logins.delete(request)

    async def _is_owner(self, request: Request) -> bool:
        """Whether the request has a login with this server's link, which a key would win over.

        Raises:
            RequestError: It has, and the dashboard did not send it.
        """
        cookie = request.cookies.get(COOKIE)
        if (
            cookie is None
            or self._link is None
            or not request.state.surface.logins
            or not self._link.knows(cookie)
            or key_in(request.headers) is not None
            or not is_from_this_machine(request)
            or not await self._no_keys()
        ):
            return False
        check_sent_by_page(request, cookie)
        return True

    async def _key_hash(self, request: Request) -> str | None:
        """The hash of the request's key; None where it has none."""
        secret = key_in(request.headers)
        if secret is not None:
            return key_hash(secret)
        if COOKIE not in request.cookies or not request.state.surface.logins:
            return None
        return await self._logins.key_hash(request)

    async def _valid_key(self, hash: str, request: Request) -> ApiKey:
        address = _address(request)
        if self._keys.get(hash) is None:
            wait = self._failures.wait(address, _FAILURES_PER_MINUTE)
            if wait is not None:
                raise _too_many(_FAILURES_PER_MINUTE, wait)
        key = await self._key(hash)
        if key is None or not is_valid(key):
            self._failures.take(address, _FAILURES_PER_MINUTE)
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


def _address(request: Request) -> str:
    return "" if request.client is None else sender(request.client.host)


def _take(limiter: RateLimiter, who: str, per_minute: int) -> None:
    wait = limiter.take(who, per_minute)
    if wait is not None:
        raise _too_many(per_minute, wait)


def _too_many(per_minute: int, wait: int) -> RequestError:
    return RequestError(
        429,
        "rate_limited",
        f"More than {per_minute} requests in one minute. Try again in {wait} seconds.",
        {"retry-after": str(wait)},
    )


def _unauthenticated(message: str) -> RequestError:
    return RequestError(401, "unauthenticated", message, {"www-authenticate": "Bearer"})
