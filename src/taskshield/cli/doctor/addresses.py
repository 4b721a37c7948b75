"""Checks the address that the server listens on, and asks who answers at one.

No key, cookie or other secret is ever sent. Redirects are not followed.
"""

import errno
import json
import os
import socket
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit, urlunsplit
from urllib.request import HTTPRedirectHandler, HTTPSHandler, ProxyHandler, Request, build_opener

from taskshield._version import __version__
from taskshield.cli.doctor.findings import Finding, failed, note, ok
from taskshield.settings import ServerSettings

_CHECK = "port"
_TIMEOUT_S = 5.0
_LONGEST = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an address answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class NoAnswer(Exception):
    """An address did not answer; the message says why, and `advice` what to do."""

    def __init__(self, why: str, advice: str) -> None:
        super().__init__(why)
        self.advice = advice


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A server of taskshield that answers at an address."""

    version: str
    reasons: tuple[str, ...]
    """Why it is not ready; empty where it is."""


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def ask(url: str, headers: Mapping[str, str] | None = None, *, over_proxy: bool) -> Answer:
    """The answer to a GET without any secret, whatever its status.

    Args:
        url: An address, perhaps one that others wrote. Only HTTP is used.
        headers: Headers to send.
        over_proxy: Whether to use the HTTP proxy that the environment names.

    Raises:
        NoAnswer: There is none.
    """
    if scheme_of(url) not in ("http", "https"):
        raise NoAnswer("this is no HTTP address", "Correct the address.")
    proxies = ProxyHandler() if over_proxy else ProxyHandler({})
    opener = build_opener(proxies, _NoRedirects, HTTPSHandler(context=_certificates()))
    try:
        request = Request(without_login(url), headers={} if headers is None else dict(headers))
        with opener.open(request, timeout=_TIMEOUT_S) as response:
            return _answer(response.status, response.headers, response.read(_LONGEST))
    except HTTPError as error:
        with error:
            return _answer(error.code, error.headers, _error_body(error))
    except URLError as error:
        raise _why(error.reason) from None
    except (OSError, HTTPException, ValueError) as error:
        raise _why(error) from None


def scheme_of(url: str) -> str | None:
    """The scheme of an address; None where it has no host."""
    try:
        parts = urlsplit(url)
        return parts.scheme if parts.hostname and parts.port != 0 else None
    except ValueError:
        return None


def host_of(url: str) -> str:
    """Host and port of an address, for people."""
    try:
        return urlsplit(without_login(url)).netloc
    except ValueError:
        return "?"


def without_login(url: str) -> str:
    """The address without a user and a password."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def running_at(root: str) -> Running | None:
    """The server of taskshield at this address; None where another program answers.

    Raises:
        NoAnswer: No program answers.
    """
    described = _object(ask(f"{root}/api/openapi.json", over_proxy=False).body).get("info")
    if not isinstance(described, dict) or described.get("title") != "taskshield":
        return None
    ready = ask(f"{root}/readyz", over_proxy=False)
    reasons = _object(ready.body).get("reasons") if ready.status != 200 else []
    return Running(
        version=str(described.get("version")),
        reasons=tuple(map(str, reasons)) if isinstance(reasons, list) else (f"{ready.status}",),
    )


def check_port(server: ServerSettings, keys: int | None) -> Iterator[Finding]:
    """The findings about the address that the server listens on.

    Args:
        server: The settings.
        keys: The number of API keys in the store; None where it is not known.
    """
    from taskshield.server.access.local_requests import is_loopback

    host, port = server.host, server.port
    if not is_loopback(host) and keys == 0:
        yield failed(
            _CHECK,
            f"Other machines can reach {host}, but there is no API key, so the server will not"
            " start.",
            "taskshield keys create --name NAME, or set server.host to 127.0.0.1.",
        )
    problem = _bind_error(host, port)
    if problem is None:
        yield ok(_CHECK, f"{host}:{port} is free." if port else "Any free port is taken.")
    elif problem.errno == errno.EADDRINUSE:
        yield _in_use(host, port)
    elif problem.errno == errno.EACCES:
        yield failed(
            _CHECK,
            f"{host}:{port} may not be used by this user.",
            "Set server.port to 1024 or higher.",
        )
    else:
        yield failed(
            _CHECK,
            f"{host} is not an address of this machine ({problem.strerror}).",
            "Set server.host to 127.0.0.1, or to 0.0.0.0 for all addresses.",
        )


def _in_use(host: str, port: int) -> Finding:
    local = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    root = f"http://{f'[{local}]' if ':' in local else local}:{port}"
    try:
        running = running_at(root)
    except NoAnswer:
        running = None
    if running is None:
        return failed(
            _CHECK,
            f"{host}:{port} is in use by another program.",
            f"Stop that program, or use another port: taskshield serve --port {port % 65535 + 1}",
        )
    if running.reasons:
        return failed(
            _CHECK,
            f"taskshield {running.version} runs there, not ready: {' '.join(running.reasons)}",
            f"Read its log, and look at {root}/readyz.",
        )
    if running.version != __version__:
        return note(
            _CHECK,
            f"taskshield {running.version} runs there; {__version__} is installed.",
            "Restart the server.",
        )
    return ok(_CHECK, f"taskshield {running.version} runs there and is ready.")


def _bind_error(host: str, port: int) -> OSError | None:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as tried:
            if os.name == "posix":
                tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(address)
    except OSError as error:
        return error
    return None


def _error_body(error: HTTPError) -> bytes:
    try:
        return error.read(_LONGEST)
    except (OSError, HTTPException):
        return b""


def _object(body: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _answer(status: int, headers: Message, body: bytes) -> Answer:
    return Answer(
        status=status, headers={name.lower(): value for name, value in headers.items()}, body=body
    )


def _certificates() -> ssl.SSLContext:
    """Trusts what the proxy trusts: what the environment names, or else what browsers trust."""
    if os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR"):
        return ssl.create_default_context()
    try:
        import certifi
    except ModuleNotFoundError:
        return ssl.create_default_context()
    return ssl.create_default_context(cafile=certifi.where())


def _why(error: object) -> NoAnswer:
    match error:
        case ssl.SSLCertVerificationError():
            return NoAnswer(
                f"its certificate is not trusted ({error.verify_message})",
                "Set SSL_CERT_FILE to the certificate of its authority, or correct the address.",
            )
        case ssl.SSLError():
            return NoAnswer(
                "it does not speak TLS", "Use http:// in the address, or correct the port."
            )
        case socket.gaierror():
            return NoAnswer(
                "its name cannot be resolved", "Correct the host in the address, or the DNS."
            )
        case TimeoutError():
            return NoAnswer(
                "it did not answer in time", "Check the network and its firewall, or HTTPS_PROXY."
            )
        case ConnectionRefusedError():
            return NoAnswer(
                "no program listens there", "Start it, or correct the host and the port."
            )
        case HTTPException():
            return NoAnswer("it does not speak HTTP", "Correct the address and its port.")
    return NoAnswer(
        f"it cannot be reached ({type(error).__name__})", "Check the network, or HTTPS_PROXY."
    )
