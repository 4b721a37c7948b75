"""The link with which the person who started a server logs in, as long as it needs no keys.

It lives in this process alone: neither the store nor a file or variable has its token or its
logins, and they end with the process. Owns no cookies: see `access.logins`.
"""

import hmac
import secrets
import time
from collections.abc import Callable

from taskshield.server.access.logins import LIFETIME, NewLogin, cookie_hash, new_login
from taskshield.server.bounded_cache import BoundedCache

FRAGMENT = "#/login/"
"""The token follows it. Browsers send no fragment, so no log and no `Referer` ever has it."""

_LOGINS = 1_000


class LoginLink:
    """A token that works once. The terminal shows the next one when it is used."""

    def __init__(
        self,
        renewed: Callable[[str], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Make the first token.

        Args:
            renewed: Called with the next fragment when a token was used.
            clock: Says when a login ends.
        """
        self._renewed = renewed
        self._clock = clock
        self._token = _new_token()
        self._ends: BoundedCache[str, float] = BoundedCache(_LOGINS)

    @property
    def fragment(self) -> str:
        """The end of the link."""
        return f"{FRAGMENT}{self._token}"

    @property
    def token(self) -> str:
        """What the next login needs."""
        return self._token

    def log_in(self, token: str) -> NewLogin | None:
        """A login for the token; None where it is wrong or was used."""
        given, wanted = token.encode("utf-8", "surrogatepass"), self._token.encode()
        if not hmac.compare_digest(given, wanted):
            return None
        self._token = _new_token()
        made = new_login()
        self._ends.put(cookie_hash(made.cookie), self._clock() + LIFETIME.total_seconds())
        if self._renewed is not None:
            self._renewed(self.fragment)
        return made

    def knows(self, cookie: str) -> bool:
        """Whether the cookie is of a login that has not ended."""
        end = self._ends.get(cookie_hash(cookie))
        return end is not None and self._clock() < end

    def log_out(self, cookie: str) -> None:
        """End a login."""
        if self.knows(cookie):
            self._ends.put(cookie_hash(cookie), self._clock())


def _new_token() -> str:
    return secrets.token_urlsafe(32)
