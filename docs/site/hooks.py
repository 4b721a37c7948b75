"""MkDocs hooks of this site: files outside of docs/ that a page links to become pages.

On a code host a link such as `../NOTICE` leads to the file. The site has no such file, so it gets a
page that shows it. A folder cannot be shown: there the words of the link stay, without the link.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

_LINK = re.compile(r"\[([^\]\[]+)\]\((\.\./[^)\s#]+)(?:#[^)]*)?\)")
_LANGUAGES = {".py": "python", ".json": "json", ".md": "markdown", ".yaml": "yaml"}
_FENCE = "`" * 6
"""Longer than any in the files that are shown."""


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add a page for each file outside that a page links to."""
    root = Path(config.docs_dir).parent
    for page in list(files.documentation_pages()):
        for _, target in _LINK.findall(page.content_string):
            outside = _outside(page.src_uri, target)
            if outside is not None and (root / outside).is_file():
                uri = _page_of(outside)
                if files.get_file_from_path(uri) is None:
                    content = _shown(outside, (root / outside).read_text(encoding="utf-8"))
                    files.append(File.generated(config, uri, content=content))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links that leave docs/ to those pages."""

    def led(link: re.Match[str]) -> str:
        words, target = link.groups()
        outside = _outside(page.file.src_uri, target)
        if outside is None:
            return link[0]
        if files.get_file_from_path(_page_of(outside)) is None:
            return str(words)
        here = posixpath.dirname(page.file.src_uri)
        return f"[{words}]({posixpath.relpath(_page_of(outside), here or '.')})"

    return _LINK.sub(led, markdown)


def _outside(page: str, target: str) -> str | None:
    """The path from the root of the repository, where it leaves docs/; otherwise None."""
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), target))
    return None if path.startswith(("docs/", "../")) else path


def _page_of(path: str) -> str:
    return f"source/{path}.md"


def _shown(path: str, text: str) -> str:
    language = _LANGUAGES.get(posixpath.splitext(path)[1], "text")
    head = f"---\ntitle: {path}\nsearch:\n  exclude: true\n---\n\n# {path}\n\n"
    return f"{head}{_FENCE}{language}\n{text.rstrip()}\n{_FENCE}\n"
