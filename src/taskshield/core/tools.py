"""Tools and how much harm each could do."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from taskshield.core.safe_text import visible

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


class Tier(Enum):
    """The harm that a tool can do, from none to grave."""

    READ = "read"
    """Reads; changes nothing."""
    WRITE = "write"
    """Changes the user's own data."""
    EXTERNAL = "external"
    """Leaves the user's own systems: sends, posts, opens an address."""
    DESTRUCTIVE = "destructive"
    """Deletes or overwrites what cannot be restored."""
    FINANCIAL = "financial"
    """Moves money or commits the user to pay."""
    ACCESS = "access"
    """Changes who may see or do something."""

    @property
    def side_effects(self) -> bool:
        """Whether a call changes something: any tier but read."""
        return self is not Tier.READ


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnnotations:
    """MCP's hints about a tool. Its author writes them, and they may be false."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool that the agent may call."""

    name: str
    description: str = ""
    parameters: Mapping[str, object] = field(default_factory=dict)
    """JSON schema of the arguments."""
    annotations: ToolAnnotations = ToolAnnotations()

    @property
    def texts(self) -> tuple[str, ...]:
        """The descriptions of the tool and of each of its parameters."""
        properties = self.parameters.get("properties")
        schemas = properties.values() if isinstance(properties, Mapping) else ()
        described = (one.get("description") for one in schemas if isinstance(one, Mapping))
        return tuple(str(text) for text in (self.description, *described) if text)


def name_words(name: str) -> list[str]:
    """The words of a name: "sendMoney" and "send_money" are both send, money."""
    return [word.lower() for word in _WORD.findall(name)]


def own_name(name: str) -> str:
    """A tool's name without its MCP server (`mcp__server__tool`)."""
    return name.split("__", 2)[-1] if name.startswith("mcp__") else name


def is_unreadable(name: str) -> bool:
    """Whether no person can read the name: it has no word, or characters that do not show."""
    has_word = any(map(str.isalnum, own_name(name)))
    return not has_word or visible(name, len(name)) != name or "\n" in name
