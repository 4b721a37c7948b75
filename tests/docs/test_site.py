"""The site builds, all pages are in the navigation, all links work, and nothing is loaded."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from tests.docs.pages import DOCS, PAGES, ROOT, anchors, links, text

OTHER_PAGES = [
    *("README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "lab/README.md"),
    *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "lab" / "notes").glob("*.md"))),
]
"""Pages with links that are not part of the site."""
PICTURES = sorted(DOCS.rglob("*.svg"))
DRAWN = [path for path in PICTURES if path.parent.name == "concepts"]


def nav(entry: object) -> Iterator[str]:
    """The pages in a part of the navigation."""
    match entry:
        case str():
            yield entry
        case list():
            for each in entry:
                yield from nav(each)
        case dict():
            yield from nav(list(entry.values()))


def test_the_navigation_names_every_page_once() -> None:
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert sorted(f"docs/{page}" for page in nav(settings["nav"])) == PAGES


@pytest.mark.parametrize("page", [*PAGES, *OTHER_PAGES])
def test_links_and_anchors_exist(page: str) -> None:
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = ((ROOT / page).parent / path).resolve() if path else ROOT / page
        assert target.exists(), link
        assert target.is_relative_to(ROOT), link
        if anchor and target.suffix == ".md":
            assert anchor in anchors(str(target.relative_to(ROOT))), link


@pytest.mark.parametrize("page", [*PAGES, *OTHER_PAGES])
def test_files_that_a_page_names_exist(page: str) -> None:
    named = re.findall(r"`(?:python )?((?:lab|tests|docs|src|examples)/[\w./-]*\w)", text(page))
    assert [
        path for path in named if not (ROOT / path).exists() and path != "lab/models/NAME"
    ] == []


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_a_picture_is_valid_and_loads_nothing(path: Path) -> None:
    picture = path.read_text(encoding="utf-8")
    root = ElementTree.fromstring(picture)
    assert root.tag == "{http://www.w3.org/2000/svg}svg" and "viewBox" in root.attrib
    assert not re.search(r"<script|href=|@import|url\((?!#)|\bon\w+=", picture)


@pytest.mark.parametrize("path", [*DRAWN, DOCS / "benchmarks-attacks.svg"], ids=lambda p: p.stem)
def test_a_picture_has_enough_contrast_in_light_and_dark(path: Path) -> None:
    picture = path.read_text(encoding="utf-8")
    assert "<title" in picture and "<desc" in picture
    light, dark = (
        dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", part))
        for part in picture.split("prefers-color-scheme: dark")
    )
    assert light.keys() == dark.keys()
    for colours in (light, dark):
        grounds = {"card", "box", "system", "user", "agent", "tool"} & colours.keys()
        for ink in {"ink", "soft"} & colours.keys():
            for ground in grounds:
                assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
        for ink in {"good", "bad"} & colours.keys():
            for ground in {"card", "box"} & grounds:
                assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(part * weight for part, weight in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr, built.stderr
    return folder


def test_every_page_is_built(site: Path) -> None:
    for page in PAGES:
        assert (site / page.removeprefix("docs/")).with_suffix(".html").is_file(), page


def test_the_site_loads_nothing_from_other_hosts(site: Path) -> None:
    loaded = re.compile(
        r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"?(?:https?:)?//"
        r"|<link\b(?![^>]*rel=\"?canonical)[^>]*\bhref=\"?(?:https?:)?//"
    )
    for path in site.rglob("*.html"):
        assert not loaded.search(path.read_text(encoding="utf-8")), path
    for path in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import )[\"']?(?:https?:)?//", path.read_text()), path


def test_linked_files_outside_of_docs_have_pages(site: Path) -> None:
    shown = (site / "source" / "examples" / "pydantic_ai_agent.py.html").read_text(encoding="utf-8")
    assert "examples/pydantic_ai_agent.py" in shown and "TaskShield" in shown
    page = (site / "integrations" / "pydantic-ai.html").read_text(encoding="utf-8")
    assert 'href="../source/examples/pydantic_ai_agent.py.html"' in page


def test_the_scripts_of_the_site_are_not_published(site: Path) -> None:
    assert not list(site.rglob("hooks*")) and "docs/site/" in text("docs/settings-reference.md")
