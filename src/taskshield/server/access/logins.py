"""Logins on the page: what a browser holds in the place of a key, and proof that our page asks.

A browser sends its cookie along with whatever any page makes it ask. So a request that changes
something must also carry a token that only our own page can read, and come from it.
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
_HARMLESS = frozenset({"GET", "HEAD"})


class Logins:
    """Who is logged in. The store knows hashes only: of the cookie, and of the key."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def begin(self, key_hash: str) -> str:
        """Log somebody in who has shown this key; gives the cookie."""
        cookie = secrets.token_urlsafe(32)
        now = datetime.now(UTC)
        await self._store.add_login(
            Login(id=_id(cookie), key=key_hash, created_at=now, expires_at=now + _LIFETIME)
        )
        return cookie

    async def key_hash(self, request: Request) -> str | None:
        """The hash of the key that somebody has logged in with; None where nobody has.

        Raises:
            Refused: The request would change something, and our own page has not made it.
        """
        cookie = request.cookies.get(COOKIE)
        login = None if cookie is None else await self._store.login(_id(cookie))
        if cookie is None or login is None:
            return None
        if request.method not in _HARMLESS:
            check_origin(request)
            given = request.headers.get(CSRF_HEADER, "")
            if not hmac.compare_digest(given.encode(), csrf_token(cookie).encode()):
                raise _forged(f"the header {CSRF_HEADER} is missing or wrong")
        return login.key

    async def end(self, request: Request) -> None:
        """Log out."""
        cookie = request.cookies.get(COOKIE)
        if cookie is not None:
            await self._store.remove_login(_id(cookie))


def csrf_token(cookie: str) -> str:
    """What only a page that may read our answers knows; it cannot be had without the cookie."""
    return hmac.new(cookie.encode(), b"csrf", sha256).hexdigest()


def check_origin(request: Request) -> None:
    """Refuse what another site's page makes a browser ask.

    Raises:
        Refused: It is that, or nobody knows.
    """
    site = request.headers.get("sec-fetch-site")
    if site is None:  # an older browser, or a connection that is not encrypted
        own = _host(request.headers.get("origin", "")) == request.headers.get("host", "").lower()
    else:
        own = site == "same-origin"
    if not own:
        raise _forged("it does not come from our own page")


def set_cookie(response: Response, request: Request, cookie: str) -> None:
    """Hand the cookie to the browser, which keeps it from scripts and from other sites."""
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
    """Take the cookie back."""
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")


def _id(cookie: str) -> str:
    return sha256(cookie.encode()).hexdigest()


def _host(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


def _forged(why: str) -> RequestError:
    return RequestError(403, "forged", f"the request is refused: {why}")
