"""The wrapped server: a command that speaks MCP over its standard streams, or an HTTP address."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit

from taskshield.adapters.parsing.json_reader import Field, checked
from taskshield.core.errors import ConfigError, WireFormatError


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A server that is started for each client."""

    argv: tuple[str, ...]
    """The program and its arguments."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Its environment, in addition to the few variables that every process needs."""

    def __post_init__(self) -> None:
        if not self.argv or not self.argv[0]:
            raise ConfigError("There is no command to start the wrapped server. Name a program.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A running server that speaks streamable HTTP."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers of every request, for example a token."""

    def __post_init__(self) -> None:
        if not is_address(self.url):
            raise ConfigError(
                "The server's address is not valid. Give one such as https://host/mcp."
            )


Target: TypeAlias = Command | Address


def is_address(url: str) -> bool:
    """Whether this is a valid address of a server."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def read_targets(path: Path, environment: Mapping[str, str]) -> dict[str, Target]:
    """The servers in a file with `mcpServers`, the format of MCP clients.

    Args:
        path: The file.
        environment: Environment of the commands; the file's own variables override it.

    Raises:
        ConfigError: The file cannot be read or has another format. The error names the place in
            the file and does not quote it.
    """
    try:
        root = checked(Field(value=json.loads(path.read_text("utf-8")), key="file"))
        servers = root["mcpServers"].members()
        return {_name(server): _target(server, environment) for server in servers}
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from None
    except WireFormatError as error:
        raise ConfigError(f"{path}: {error}") from None
    except (ValueError, RecursionError):
        raise ConfigError(f"{path} is not a JSON file.") from None


def _target(server: Field, environment: Mapping[str, str]) -> Target:
    if not server["url"].given:
        arguments = (argument.text() for argument in server["args"].elements())
        argv = (server["command"].text(), *arguments)
        return Command(argv=argv, env={**environment, **_texts(server["env"])})
    url = server["url"]
    if not is_address(url.text()):
        raise url.refused("this must be an address such as https://host/mcp")
    return Address(url=url.text(), headers=_texts(server["headers"]))


def _name(server: Field) -> str:
    """A name that can be part of a path."""
    name = str(server.key)
    if not name.replace("-", "").replace("_", "").replace(".", "").isalnum():
        raise server.refused("a server's name may have only letters, digits, '-', '_' and '.'")
    return name


def _texts(field: Field) -> dict[str, str]:
    return {str(member.key): member.text() for member in field.members()} if field.given else {}
