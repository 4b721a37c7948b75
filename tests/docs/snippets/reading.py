"""Finds the snippets of the README and of the documentation, and the packages that a page names."""

import re
import shlex
from dataclasses import dataclass

from tests.docs.pages import PAGES, text

PAGES_WITH_README = ["README.md", *PAGES]

_FENCED = re.compile(
    r"^(?P<indent> *)(?P<fence>`{3,}|~{3,}) *(?P<language>[^\n`]*)\n"
    r"(?P<code>.*?)^(?P=indent)(?P=fence)`*$",
    re.MULTILINE | re.DOTALL,
)
_INDENTED = re.compile(r"(?:(?<=\n\n)|\A)(?: {4,}\S.*\n(?:\n(?= {4}))?)+")
_INSTALL = re.compile(r"\bpip install ([^`\n#&|]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """A block of code, of a file or of output."""

    page: str
    line: int
    """Where its code begins."""
    language: str
    """The word of the fence; empty for an indented block."""
    code: str

    @property
    def place(self) -> str:
        """Page and line."""
        return f"{self.page}:{self.line}"


def snippets(page: str) -> list[Snippet]:
    """All snippets of a page, in its order."""
    return snippets_of(text(page), page)


def snippets_of(source: str, page: str = "") -> list[Snippet]:
    """All snippets of a Markdown text, in its order."""
    found = []
    for match in _FENCED.finditer(source):
        indent = match["indent"]
        code = re.sub(rf"^{indent}", "", match["code"], flags=re.MULTILINE)
        line = source.count("\n", 0, match.start("code")) + 1
        found.append(Snippet(page=page, line=line, language=match["language"].strip(), code=code))
    rest = _FENCED.sub(lambda match: "-" + "\n" * match[0].count("\n"), source)
    for match in _INDENTED.finditer(rest):
        code = re.sub(r"^ {4}", "", match[0], flags=re.MULTILINE)
        line = rest.count("\n", 0, match.start()) + 1
        found.append(Snippet(page=page, line=line, language="", code=code))
    return sorted(found, key=lambda snippet: snippet.line)


def installed_by(page: str) -> frozenset[str]:
    """The requirements that a page names in `pip install` commands, in snippets and in prose."""
    named: set[str] = set()
    for command in _INSTALL.findall(text(page)):
        named.update(word for word in shlex.split(command) if not word.startswith("-"))
    return frozenset(named)
