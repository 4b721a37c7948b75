"""Logins on the dashboard: a cookie instead of a key, and proof that the dashboard sent a request.

A browser sends its cookie with every request, also with those that another site's page starts, and
to every server on the same host: a server that an agent runs on another port gets it, too. So a
request that changes something must also have a token that only the dashboard has. It keeps the
token where no other port can read it; the cookie has only the token's hash.
"""

import hmac
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from taskshield.core.store import Login, Store
from taskshield.server.http.errors import RequestError

COOKIE = "taskshield_login"
CSRF_HEADER = "x-taskshield-csrf"

LIFETIME = timedelta(hours=12)
_SAFE_METHODS = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLogin:
    """A new login, for the browser."""

    cookie: str
    """The browser keeps it and hides it from scripts."""
    token: str
    """The dashboard keeps it and sends it along in `CSRF_HEADER`."""


def new_login() -> NewLogin:
    """Make a login."""
    token = secrets.token_urlsafe(32)
    return NewLogin(cookie=f"{secrets.token_urlsafe(32)}.{cookie_hash(token)}", token=token)


class Logins:
    """All logins with a key. The store has only hashes: of the cookie and of the key."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def create(self, key_hash: str) -> NewLogin:
        """Create a login for the key with this hash."""
        made = new_login()
        id, now = cookie_hash(made.cookie), datetime.now(UTC)
        await self._store.add_login(
            Login(id=id, key=key_hash, created_at=now, expires_at=now + LIFETIME)
        )
        return made

    async def key_hash(self, request: Request) -> str | None:
        """The hash of the key behind the request's login; None where it has no login.

        Raises:
            RequestError: The request would change something and was not sent by the dashboard.
        """
        cookie = request.cookies.get(COOKIE)
        login = None if cookie is None else await self._store.login(cookie_hash(cookie))
        if cookie is None or login is None:
            return None
        check_sent_by_page(request, cookie)
        return login.key

    async def delete(self, request: Request) -> None:
        """Delete the login of this request."""
        cookie = request.cookies.get(COOKIE)
        if cookie is not None:
            await self._store.remove_login(cookie_hash(cookie))


def check_sent_by_page(request: Request, cookie: str) -> None:
    """Check that the dashboard sent a request with this cookie, if it would change something.

    Raises:
        RequestError: It would, and its token is missing or belongs to another cookie.
    """
    if request.method in _SAFE_METHODS:
        return
    check_origin(request)
    given = cookie_hash(request.headers.get(CSRF_HEADER, ""))
    if not hmac.compare_digest(given.encode(), cookie.rpartition(".")[2].encode()):
        raise _forged(f"The header {CSRF_HEADER} is missing or wrong. Log in again.")


def check_origin(request: Request) -> None:
    """Check that a request comes from the dashboard.

    Raises:
        RequestError: It comes from another site's page, or its origin is unknown.
    """
    site = request.headers.get("sec-fetch-site")
    if site is None:  # an older browser, or a connection that is not encrypted
        own = _host(request.headers.get("origin", "")) == request.headers.get("host", "").lower()
    else:
        own = site == "same-origin"
    if not own:
        raise _forged("The request does not come from the dashboard.")


def set_cookie(response: Response, request: Request, cookie: str) -> None:
    """Set the cookie. The browser hides it from scripts and from other sites."""
    # Behind a proxy that ends TLS, only the browser knows that the connection is encrypted.
    secure = "https" in (request.url.scheme, request.headers.get("origin", "").partition("://")[0])
    response.set_cookie(
        COOKIE,
        cookie,
        max_age=int(LIFETIME.total_seconds()),
        path="/",
        secure=secure,
        httponly=True,
        samesite="strict",
    )


def clear_cookie(response: Response) -> None:
    """Delete the cookie."""
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")


def cookie_hash(secret: str) -> str:
    """The hash of a cookie or a token. Both are long and random, so no salt is needed."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _host(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


def _forged(message: str) -> RequestError:
    return RequestError(403, "forged", message)
