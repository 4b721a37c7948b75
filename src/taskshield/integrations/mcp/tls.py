"""The certificates that the gateway trusts; loading them takes longer than most requests."""

import ssl
from functools import cache

import httpx2


@cache
def tls_context() -> ssl.SSLContext:
    """The TLS settings of all connections of this process."""
    return httpx2.create_ssl_context()
