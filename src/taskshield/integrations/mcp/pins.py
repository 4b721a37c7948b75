"""Pins: what a server's tools were when they were found good, so that a later change shows."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from taskshield.adapters.parsing.json_reader import Field
from taskshield.core.errors import ConfigError, WireFormatError

State = Literal["new", "same", "changed"]

_VERSION = 1


class Pins:
    """Hashes of tools by name, for one server, in memory."""

    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        self._known = {} if known is None else dict(known)

    def state(self, tool: str, digest: str) -> State:
        """How a tool that is listed now compares with what was pinned."""
        pinned = self._known.get(tool)
        if pinned is None:
            return "new"
        return "same" if pinned == digest else "changed"

    def pin(self, digests: Mapping[str, str]) -> list[str]:
        """Remember tools as they are now.

        Returns:
            Those that were not pinned, or not so, before.

        Raises:
            ConfigError: They cannot be written down.
        """
        new = [tool for tool, digest in digests.items() if self._known.get(tool) != digest]
        if new:
            self._known.update(digests)
            self._keep(digests)
        return new

    def _keep(self, digests: Mapping[str, str]) -> None:
        """Nothing is kept beyond this process."""


class FilePins(Pins):
    """Pins of one server in a file, which may hold those of others, too."""

    def __init__(self, path: Path, server: str) -> None:
        """Read the pins.

        Args:
            path: Of the file; it need not exist yet.
            server: Name of the server in it.

        Raises:
            ConfigError: It cannot be read, or is not a file of pins.
        """
        self._path = path
        self._server = server
        super().__init__(_read(path).get(server, {}))

    def _keep(self, digests: Mapping[str, str]) -> None:
        """Write the file anew, with what others have pinned in it meanwhile."""
        servers = _read(self._path)
        servers[self._server] = {**servers.get(self._server, {}), **digests}
        text = json.dumps({"taskshield-pins": _VERSION, "servers": servers}, indent=1)
        draft = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            # Whoever reads it meanwhile sees the old file or the new one, and never half of it.
            draft.write_text(f"{text}\n", "utf-8")
            draft.replace(self._path)
        except OSError as error:
            raise ConfigError(f"cannot write the pins {self._path}: {error.strerror}") from None


def _read(path: Path) -> dict[str, dict[str, str]]:
    """Pins by server and tool; none where there is no file."""
    try:
        root = Field(value=json.loads(path.read_text("utf-8")), key="file")
        if root["taskshield-pins"].value != _VERSION:
            raise ConfigError(f"{path} is not a file of pins that this release knows")
        return {
            str(server.key): {str(tool.key): tool.text() for tool in server.members()}
            for server in root["servers"].members()
        }
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"cannot read the pins {path}: {error.strerror}") from None
    except (ValueError, RecursionError, WireFormatError):
        raise ConfigError(f"{path} is not a file of pins") from None
