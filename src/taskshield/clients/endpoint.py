"""Finds and checks the key and the address of an endpoint before anything is sent.

Messages name the setting and never show its value: a key is a secret, and an address can hold one.
"""

import os
from urllib.parse import urlsplit

from taskshield.core.errors import ConfigError

PLACEHOLDER_KEY = "not-needed"
"""Sent to self-hosted servers. Most of them need no key, but the SDKs insist on one."""


def resolve_key(api_key: str | None, *, base_url: str | None, variable: str) -> str:
    """Find the key to send.

    Args:
        api_key: The configured key; it takes precedence.
        base_url: The configured address; if there is one, the key may be missing.
        variable: The environment variable to read otherwise. Empty counts as unset.

    Raises:
        ConfigError: There is no key, or no HTTP header can carry it.
    """
    if api_key is None:
        source = variable
        key = os.environ.get(variable, "")
        if not key and base_url is not None:
            return PLACEHOLDER_KEY
        if not key:
            raise ConfigError(f"There is no API key. Set {variable} or api_key.")
    else:
        source = "api_key"
        key = api_key
    # The HTTP library would refuse such a key later, in an error that quotes it.
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(
            f"{source} cannot be sent as an API key: it is empty, or it has spaces, line ends or"
            " letters outside ASCII."
        )
    return key


def check_base_url(base_url: str | None) -> None:
    """Refuse an address that could never be reached.

    Raises:
        ConfigError: It is not an http(s) address with a host and a possible port.
    """
    if base_url is None:
        return
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError("base_url must look like https://host/v1 or http://host:port/v1.")
