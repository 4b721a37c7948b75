"""Pins: hashes of a server's accepted tools, which show a later change."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from taskshield.adapters.parsing.json_reader import Field
from taskshield.core.errors import ConfigError, WireFormatError

State = Literal["new", "same", "changed"]

_VERSION = 1
_MOST = 10_000
"""Most pins of a server: new names each time must not fill the memory."""


class Pins:
    """Hashes of tools by name, for one server, in memory."""

    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        self._known = {} if known is None else dict(known)

    def state(self, tool: str, digest: str) -> State:
        """How a listed tool compares with its pin."""
        pinned = self._known.get(tool)
        if pinned is None:
            return "new"
        return "same" if pinned == digest else "changed"

    def pin(self, digests: Mapping[str, str]) -> list[str]:
        """Pin tools as they are now.

        Returns:
            The tools that are new or changed.

        Raises:
            ConfigError: The pins cannot be stored.
        """
        new = [tool for tool, digest in digests.items() if self._known.get(tool) != digest]
        if len(self._known.keys() | digests.keys()) > _MOST:
            raise ConfigError(
                f"The server has listed over {_MOST:,} tools. Choose another file of pins."
            )
        if new:
            self._known.update(digests)
            self._store(digests)
        return new

    def _store(self, digests: Mapping[str, str]) -> None:
        """Do nothing: these pins end with the process."""


class FilePins(Pins):
    """Pins of one server in a file, which can hold pins of other servers as well."""

    def __init__(self, path: Path, server: str) -> None:
        """Read the pins.

        Args:
            path: Path of the file; it need not exist yet.
            server: Name of the server in the file.

        Raises:
            ConfigError: The file cannot be read, or it is not a file of pins.
        """
        self._path = path
        self._server = server
        super().__init__(_read(path).get(server, {}))

    def _store(self, digests: Mapping[str, str]) -> None:
        """Rewrite the file, including pins that other processes have added to it."""
        servers = _read(self._path)
        servers[self._server] = {**servers.get(self._server, {}), **digests}
        text = json.dumps({"taskshield-pins": _VERSION, "servers": servers}, indent=1)
        draft = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            # Another process reads the old file or the new one, never half of it.
            draft.write_text(f"{text}\n", "utf-8")
            draft.replace(self._path)
        except OSError as error:
            raise ConfigError(
                f"The file of pins {self._path} cannot be written: {error.strerror}."
            ) from None


def _read(path: Path) -> dict[str, dict[str, str]]:
    """Pins by server and tool; none if there is no file."""
    try:
        root = Field(value=json.loads(path.read_text("utf-8")), key="file")
        if root["taskshield-pins"].value != _VERSION:
            raise ConfigError(
                f"{path} is not a file of pins that this release can read. Choose another file."
            )
        return {
            str(server.key): {str(tool.key): tool.text() for tool in server.members()}
            for server in root["servers"].members()
        }
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"The file of pins {path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError, WireFormatError):
        raise ConfigError(f"{path} is not a file of pins. Choose another file.") from None
