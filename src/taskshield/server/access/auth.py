"""Who is asking: API keys, what each may do, and whose data it sees.

A key is "tsk_" and random letters. Only its hash is stored, so a key can be looked up but not read
back. Without any key in the store, a server that only its own machine can reach is open.
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
from taskshield.server.access.rate_limits import Rates
from taskshield.server.bounded_cache import BoundedCache
from taskshield.server.http.errors import RequestError

KEY_PREFIX = "tsk_"
KEY_HEADERS = ("x-taskshield-key", "ocp-apim-subscription-key", "x-api-key", "authorization")
"""Where a key may be. A value that does not look like one of ours is somebody else's: through the
proxy, the key of the client's own provider comes in these headers, too."""
DEFAULT_TENANT = "default"
AGENT_HEADER = "x-taskshield-agent"
"""In which a client may say which agent it is, where one key serves several."""
SCOPES: frozenset[Scope] = frozenset(get_args(Scope))

_LOGINS_PER_MINUTE = 30
"""Attempts to log in that one address may make."""

_REMEMBERED_S = 5.0
"""How long a key is good without asking the store; a revoked one may be used so long at most."""
_KEPT = 10_000
_LONGEST_TENANT = 100
_LONGEST_AGENT = 128
_PORT = re.compile(r":[0-9]*\Z")
_PASSED_ON = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
"""Headers of a request that came through a proxy: nobody knows from where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Somebody who may ask."""

    tenant: str
    name: str
    """Name of the key, for people."""
    agent: str | None = None
    """The agent as the request names it, or else as the key is called; None without either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A key that was just made, the only time that it can be seen."""

    secret: str
    kept: ApiKey


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
        ConfigError: The tenant has no proper name.
    """
    # The server keeps things of its own beside a tenant's, under names that are not printable.
    if not (0 < len(tenant) <= _LONGEST_TENANT and tenant.isprintable()):
        raise ConfigError(f"a tenant's name has 1 to {_LONGEST_TENANT} printable characters")
    secret = KEY_PREFIX + secrets.token_urlsafe(32)
    now = datetime.now(UTC)
    kept = ApiKey(
        id=uuid.uuid4().hex[:12],
        tenant=tenant,
        name=name,
        hash=key_hash(secret),
        scopes=frozenset(scopes),
        per_minute=per_minute,
        created_at=now,
        expires_at=None if lifetime is None else now + lifetime,
    )
    return NewKey(secret=secret, kept=kept)


def key_hash(secret: str) -> str:
    """A key as it is stored. Keys are long and random: a plain hash cannot be guessed back."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


async def check_binding(host: str, store: Store) -> None:
    """Refuse to let everybody in.

    Raises:
        ConfigError: Others can reach this address, and no key is needed.
    """
    if not is_loopback(host) and not await store.keys():
        raise ConfigError(
            f"server.host: others can reach {host}, and there is no API key yet; make one with"
            " `taskshield keys create`, or listen on 127.0.0.1"
        )


class Auth:
    """Knows callers by their keys."""

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
        self._rates = Rates(clock)
        self._known: BoundedCache[str, tuple[ApiKey, float]] = BoundedCache(_KEPT)
        self._keyless: tuple[bool, float] | None = None
        self._logins = Logins(store)
        self._attempts = Rates(clock)

    async def admit(self, request: Request, scope: Scope, *others: Scope) -> Caller:
        """Who asks, where a key has one of these scopes; "admin" includes them all.

        Raises:
            Refused: There is no good key, it may not do this, it has asked too often, or it names
                an agent at too great length.
        """
        key = await self.recognise(request)
        named = _named_agent(request)
        if key is None:
            return Caller(tenant=DEFAULT_TENANT, name="nobody", agent=named)
        if not key.scopes & {scope, *others, "admin"}:
            needed = " or ".join((scope, *others))
            raise RequestError(403, "forbidden", f"the API key lacks the scope {needed}")
        self._count(key)
        return Caller(tenant=key.tenant, name=key.name, agent=named or key.name)

    async def recognise(self, request: Request) -> ApiKey | None:
        """The key of a request; None where it needs none.

        Raises:
            Refused: There is no good key.
        """
        hash = await self._presented(request)
        if hash is None:
            if not self._loopback or not await self._no_keys():
                raise _unauthenticated("an API key is needed")
            if not _from_this_machine(request):
                raise _unauthenticated("without an API key, only this machine itself may ask")
            return None
        return await self._good_key(hash)

    async def log_in(self, request: Request, secret: str) -> str:
        """Log somebody in on the page; gives the cookie that from then on stands for the key.

        Raises:
            Refused: The key is not good, or there were too many attempts.
        """
        address = "" if request.client is None else request.client.host
        _take(self._attempts, address, _LOGINS_PER_MINUTE)
        key = await self._good_key(key_hash(secret))
        return await self._logins.begin(key.hash)

    async def log_out(self, request: Request) -> None:
        """Forget the login of this request, where there is one.

        Raises:
            Refused: Our own page has not asked for it.
        """
        if await self._logins.key_hash(request) is not None:
            await self._logins.end(request)

    async def _presented(self, request: Request) -> str | None:
        """The hash of the key that a request is made with; None where there is none."""
        secret = presented_key(request.headers)
        if secret is not None:
            return key_hash(secret)
        if COOKIE not in request.cookies or not request.state.surface.logins:
            return None
        return await self._logins.key_hash(request)

    async def _good_key(self, hash: str) -> ApiKey:
        key = await self._key(hash)
        if key is None or not _good(key):
            raise _unauthenticated("the API key is unknown, expired or revoked")
        return key

    async def _key(self, hash: str) -> ApiKey | None:
        known = self._known.get(hash)
        if known is not None and self._clock() - known[1] < _REMEMBERED_S:
            return known[0]
        key = await self._store.key(hash)
        if key is None or not hmac.compare_digest(key.hash, hash):
            return None
        self._known.put(hash, (key, self._clock()))
        return key

    async def _no_keys(self) -> bool:
        """Whether there never was a key: revoking the last one does not open the door."""
        if self._keyless is None or self._clock() - self._keyless[1] >= _REMEMBERED_S:
            self._keyless = (not await self._store.keys(), self._clock())
        return self._keyless[0]

    def _count(self, key: ApiKey) -> None:
        per_minute = self._per_minute if key.per_minute is None else key.per_minute
        if per_minute is not None:
            _take(self._rates, key.id, per_minute)


def presented_key(headers: Headers) -> str | None:
    """The first of the headers that looks like a key of ours."""
    for header in KEY_HEADERS:
        value = headers.get(header, "").strip()
        if header == "authorization":
            scheme, _, value = value.partition(" ")
            value = value.strip() if scheme.lower() == "bearer" else ""
        if value.startswith(KEY_PREFIX):
            return value
    return None


def _named_agent(request: Request) -> str | None:
    name = request.headers.get(AGENT_HEADER, "").strip()
    if len(name) > _LONGEST_AGENT:
        told = f"{AGENT_HEADER} has at most {_LONGEST_AGENT} characters"
        raise RequestError(400, "invalid_request", told)
    return name or None


def _from_this_machine(request: Request) -> bool:
    """Whether a program on this machine asks.

    A page in the user's browser can reach this machine, too; but then it says where it comes from,
    or calls the machine by a name of its own. So can a proxy, which may say that it is one.
    """
    headers = request.headers
    if request.client is None or any(name in headers for name in _PASSED_ON):
        return False
    if headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        return False  # another page; one on another port of this machine is not ours either
    # Read here, as it was sent: the framework puts our own address in the place of a name that it
    # does not understand.
    called = headers.getlist("host")
    origins = [origin.partition("://")[2] for origin in headers.getlist("origin")]
    names = [_PORT.sub("", name) for name in (*called, *origins)]
    return bool(called) and all(map(is_loopback, (request.client.host, *names)))


def _take(rates: Rates, who: str, per_minute: int) -> None:
    wait = rates.take(who, per_minute)
    if wait is not None:
        raise RequestError(
            429,
            "rate_limited",
            f"more than {per_minute} requests a minute",
            {"retry-after": str(wait)},
        )


def _good(key: ApiKey) -> bool:
    expired = key.expires_at is not None and key.expires_at <= datetime.now(UTC)
    return key.revoked_at is None and not expired


def _unauthenticated(message: str) -> RequestError:
    return RequestError(401, "unauthenticated", message, {"www-authenticate": "Bearer"})
