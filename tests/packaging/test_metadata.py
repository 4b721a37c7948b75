"""What a package index shows: metadata, and the README with links and pictures that work there."""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.message import Message
from email.parser import Parser
from html.parser import HTMLParser
from pathlib import Path

import hatch_build
import pytest
from readme_renderer import markdown

from taskshield._version import __version__
from tests.packaging.wheels import Wheels

ROOT = Path(__file__).parents[2]
REPOSITORY = "https://code.example/owner/taskshield"
README = (ROOT / "README.md").read_text(encoding="utf-8")


class Targets(HTMLParser):
    """Collects where the links and pictures of a page lead."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.pictures: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {key: value or "" for key, value in attrs}
        if tag == "a" and not found["href"].startswith("#"):
            self.links.append(found["href"])
        self.pictures.extend(found[key] for key in ("src", "srcset") if key in found)


def shown(text: str) -> Targets:
    """The README as an index renders it."""
    html = markdown.render(text)
    assert html is not None
    targets = Targets()
    targets.feed(html)
    return targets


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as file:
        (name,) = (name for name in file.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(file.read(name).decode())


def test_no_relative_link_is_left_in_the_wheels(wheels: Wheels) -> None:
    for wheel in (wheels.product, wheels.lab):
        text = metadata(wheel).get_payload()
        assert isinstance(text, str) and len(text) > 1000
        targets = shown(text)
        assert all(link.startswith("https://") for link in targets.links + targets.pictures)


def test_the_sdist_says_the_same_as_the_wheel(wheels: Wheels) -> None:
    with tarfile.open(wheels.sdist) as archive:
        member = archive.extractfile(f"taskshield-{__version__}/PKG-INFO")
        assert member is not None
        assert Parser().parsestr(member.read().decode()).as_string() == (
            metadata(wheels.product).as_string()
        )


def test_twine_accepts_the_files(wheels: Wheels) -> None:
    files = [wheels.product, wheels.lab, wheels.sdist]
    done = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *files], capture_output=True, text=True
    )
    assert done.returncode == 0 and done.stdout.count("PASSED") == 3, done.stdout


def test_links_lead_to_the_files_of_this_version() -> None:
    text = hatch_build.index_readme(README, repository=REPOSITORY, version="1.2.3")
    targets = shown(text)
    ours = [link for link in targets.links + targets.pictures if link.startswith(REPOSITORY)]
    relative = re.findall(r"\]\((?!https?:)[^)]+\)|src=\"[^\"]+\"", README)
    assert len(ours) == len(relative) > 20
    for link in ours:
        kind, tag, path = link.removeprefix(f"{REPOSITORY}/").split("/", 2)
        assert tag == "v1.2.3" and (ROOT / path).exists()
        assert kind == ("raw" if path.endswith(".png") else "blob")
    assert len(targets.pictures) == 1, "the renderer drops the dark one"
    assert f'srcset="{REPOSITORY}/raw/v1.2.3/docs/screenshots/session-dark.png"' in text


def test_links_of_the_lab_start_in_its_folder() -> None:
    text = "[a](../docs/bench.md) [b](notes/README.md) [c](https://x.example) [e](#f)"
    said = hatch_build.index_readme(text, repository=REPOSITORY, version="1", folder="lab")
    base = f"{REPOSITORY}/blob/v1"
    assert said == (
        f"[a]({base}/docs/bench.md) [b]({base}/lab/notes/README.md) [c](https://x.example) [e](#f)"
    )


def test_without_a_repository_the_words_stay() -> None:
    text = hatch_build.index_readme(README, repository="", version="1")
    targets = shown(text)
    assert targets.pictures == []
    assert all(link.startswith("https://") for link in targets.links)
    assert "policy per risk tier and tool can block" in text.lower()
    assert "ask a person, or only observe: settings," in text


def test_addresses_are_those_of_the_repository_or_none() -> None:
    assert hatch_build.project_urls("").keys() == {"Paper"}
    urls = hatch_build.project_urls(REPOSITORY)
    assert urls.pop("Paper") == hatch_build.PAPER
    assert urls.keys() == {"Repository", "Documentation", "Changelog", "Issues"}
    assert all(url.startswith(REPOSITORY) for url in urls.values())


def test_both_packages_have_the_same_repository(wheels: Wheels) -> None:
    configured = {
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["tool"]["hatch"]["metadata"][
            "hooks"
        ]["custom"]["repository"]
        for folder in (".", "lab")
    }
    (repository,) = configured
    urls = {f"{name}, {url}" for name, url in hatch_build.project_urls(repository).items()}
    for wheel in (wheels.product, wheels.lab):
        assert set(metadata(wheel).get_all("Project-URL", [])) == urls


def test_the_classifiers_name_the_supported_versions(wheels: Wheels) -> None:
    found = metadata(wheels.product)
    classifiers = found.get_all("Classifier", [])
    for version in ("3.11", "3.12", "3.13"):
        assert f"Programming Language :: Python :: {version}" in classifiers
    assert found["Requires-Python"] == ">=3.11"
    assert found["License-Expression"] == "Apache-2.0"
    assert "Operating System :: POSIX :: Linux" in classifiers


def test_a_build_without_a_version_fails(tmp_path: Path) -> None:
    (tmp_path / "_version.py").write_text("")
    (tmp_path / "README.md").write_text("")
    hook = hatch_build.CustomMetadataHook(str(tmp_path), {"version": "_version.py"})
    with pytest.raises(ValueError, match="has no version"):
        hook.update({})
