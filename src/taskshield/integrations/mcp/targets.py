"""What is wrapped: a command that speaks MCP over its standard streams, or an HTTP address."""

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
    """Its environment, besides the few variables that every process needs."""

    def __post_init__(self) -> None:
        if not self.argv or not self.argv[0]:
            raise ConfigError("a command is needed to start the wrapped server")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A server that runs already and speaks streamable HTTP."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent with every request, e.g. a token."""

    def __post_init__(self) -> None:
        if not is_address(self.url):
            raise ConfigError("an address such as https://host/mcp is needed")


Target: TypeAlias = Command | Address


def is_address(url: str) -> bool:
    """Whether this can be the address of a server."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def read_targets(path: Path, environment: Mapping[str, str]) -> dict[str, Target]:
    """The servers of a file with `mcpServers`, as MCP clients have it.

    Args:
        path: The file.
        environment: For commands; what the file says of a command's environment goes over it.

    Raises:
        ConfigError: It cannot be read, or is not such a file. Names the place, not what is there.
    """
    try:
        root = checked(Field(value=json.loads(path.read_text("utf-8")), key="file"))
        servers = root["mcpServers"].members()
        return {_name(server): _target(server, environment) for server in servers}
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from None
    except WireFormatError as error:
        raise ConfigError(f"{path}: {error}") from None
    except (ValueError, RecursionError):
        raise ConfigError(f"{path} is not JSON") from None


def _target(server: Field, environment: Mapping[str, str]) -> Target:
    if not server["url"].given:
        arguments = (argument.text() for argument in server["args"].elements())
        argv = (server["command"].text(), *arguments)
        return Command(argv=argv, env={**environment, **_texts(server["env"])})
    url = server["url"]
    if not is_address(url.text()):
        raise url.refused("an address such as https://host/mcp is needed")
    return Address(url=url.text(), headers=_texts(server["headers"]))


def _name(server: Field) -> str:
    """A name that can stand in a path."""
    name = str(server.key)
    if not name.replace("-", "").replace("_", "").replace(".", "").isalnum():
        raise server.refused("a server's name has letters, digits, '-', '_' and '.' only")
    return name


def _texts(field: Field) -> dict[str, str]:
    return {str(member.key): member.text() for member in field.members()} if field.given else {}
