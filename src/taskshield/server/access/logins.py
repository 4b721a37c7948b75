"""Logins on the dashboard: a cookie instead of a key, and proof that the dashboard sent a request.

A browser sends its cookie with every request, also with those that another site's page starts. So a
request that changes something must also have a token that only the dashboard can read.
"""

import hmac
import secrets
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from taskshield.core.store import Login, Store
from taskshield.server.http.errors import RequestError

COOKIE = "taskshield_login"
CSRF_HEADER = "x-taskshield-csrf"

_LIFETIME = timedelta(hours=12)
_SAFE_METHODS = frozenset({"GET", "HEAD"})


class Logins:
    """All logins. The store has only hashes: of the cookie and of the key."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def create(self, key_hash: str) -> str:
        """Create a login for the key with this hash; returns the cookie."""
        cookie = secrets.token_urlsafe(32)
        now = datetime.now(UTC)
        await self._store.add_login(
            Login(id=_id(cookie), key=key_hash, created_at=now, expires_at=now + _LIFETIME)
        )
        return cookie

    async def key_hash(self, request: Request) -> str | None:
        """The hash of the key behind the request's login; None where it has no login.

        Raises:
            RequestError: The request would change something and was not sent by the dashboard.
        """
        cookie = request.cookies.get(COOKIE)
        login = None if cookie is None else await self._store.login(_id(cookie))
        if cookie is None or login is None:
            return None
        if request.method not in _SAFE_METHODS:
            check_origin(request)
            given = request.headers.get(CSRF_HEADER, "")
            if not hmac.compare_digest(given.encode(), csrf_token(cookie).encode()):
                raise _forged(f"The header {CSRF_HEADER} is missing or wrong. Reload the page.")
        return login.key

    async def delete(self, request: Request) -> None:
        """Delete the login of this request."""
        cookie = request.cookies.get(COOKIE)
        if cookie is not None:
            await self._store.remove_login(_id(cookie))


def csrf_token(cookie: str) -> str:
    """A token that only the dashboard can read. It is derived from the cookie."""
    return hmac.new(cookie.encode(), b"csrf", sha256).hexdigest()


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
        max_age=int(_LIFETIME.total_seconds()),
        path="/",
        secure=secure,
        httponly=True,
        samesite="strict",
    )


def clear_cookie(response: Response) -> None:
    """Delete the cookie."""
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")


def _id(cookie: str) -> str:
    return sha256(cookie.encode()).hexdigest()


def _host(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


def _forged(message: str) -> RequestError:
    return RequestError(403, "forged", message)
