"""Reads the pages of the documentation for tests."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(str(path.relative_to(ROOT)) for path in DOCS.rglob("*.md"))
_FENCED = re.compile(r"^( *)(`{3,}).*?^\1\2$", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?:^|\n)\n(?: {4}.*\n)+")


def text(page: str) -> str:
    """The text of a page."""
    return (ROOT / page).read_text(encoding="utf-8")


def prose(page: str) -> str:
    """A page without its code."""
    return re.sub(r"`[^`\n]*`", "", _INDENTED.sub("\n", _FENCED.sub("", text(page))))


def anchors(page: str) -> set[str]:
    """The anchors of the headings of a page."""
    headings = re.findall(r"^#{1,6} (.+)$", _FENCED.sub("", text(page)), re.MULTILINE)
    return {_slug(heading) for heading in headings}


def links(page: str) -> list[str]:
    """The targets of links and pictures of a page, without those on other sites."""
    return re.findall(r"\]\((?!https?:)([^)\s]+)\)", prose(page))


def _slug(heading: str) -> str:
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", words).strip())
