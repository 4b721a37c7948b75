"""What belongs to the guard, as plain values: its surroundings are read by `wiring`."""

from dataclasses import dataclass

AGENT_SETTINGS = (
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex/config.toml",
    ".codex/hooks.json",
    ".gemini/settings.json",
)
"""Files in which agents are told to ask the guard; wherever they stand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnResources:
    """What belongs to the guard. Its commands and variables are known without any value."""

    port: int | None = None
    """The port of its server; None where it has none."""
    hosts: frozenset[str] = frozenset()
    """Names of the machine on which the server listens, besides those of every machine."""
    files: tuple[str, ...] = ()
    """Absolute paths: its store and its settings file."""
    store: str | None = None
    """Absolute path of its store, where that is a file."""
    folders: tuple[str, ...] = ()
    """Absolute paths of folders that hold only what is its own."""
    around: tuple[str, ...] = ()
    """Absolute paths of folders around these; they count where all of one is meant."""
    package: str | None = None
    """The folder of the installed package. It may be read, but not changed."""
    home: str | None = None
    """The user's home folder: `~`."""
    process: int | None = None
    """The number of the server's process."""
    command_line: str = ""
    """How the server was started."""


NOTHING_KNOWN = OwnResources()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """That a call reaches something of the guard."""

    what: str
    """For people: "its address"."""
    names: tuple[str, ...]
    """Words with one of which a user asks for it, in lower case."""
