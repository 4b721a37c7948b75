"""The prompts: versioned text files, joined to system messages and named by their hash."""

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

VERSIONS = {
    "quoting": 1,
    "tasks": 2,
    "objectives": 1,
    "instructions": 1,
    "tool_calls": 1,
    "scoring": 2,
    "extraction": 1,
}
"""The version in use of each part. A changed text gets a new file and a new number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A system message and its name."""

    name: str
    """Parts, versions and hash, as logged with each decision."""
    text: str


@cache
def prompt(*parts: str) -> Prompt:
    """The system message made of these parts; the rules of quoting always come first."""
    names = [f"{part}.v{VERSIONS[part]}" for part in ("quoting", *parts)]
    text = "\n".join(_file(name) for name in names)
    return Prompt(name=f"{'+'.join(names)}@{sha256(text.encode()).hexdigest()[:12]}", text=text)


def _file(name: str) -> str:
    return (files(__package__) / "prompts" / f"{name}.md").read_text(encoding="utf-8")
