"""Which addresses only this machine can reach, and which requests come from this machine."""

import ipaddress
import re

from starlette.requests import Request

from taskshield.core.errors import ConfigError
from taskshield.core.store import Store

_PORT = re.compile(r":[0-9]*\Z")
_FORWARDING = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
"""Headers of a request that a proxy forwarded: its sender is unknown."""


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


def is_from_this_machine(request: Request) -> bool:
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
