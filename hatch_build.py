"""Metadata that the build makes: the README as a package index shows it, and the addresses.

On a code host a link to `docs/x.md` leads to the file. A package index has no files, so there such
a link gets the address of the repository at this version. Until the project has a public one,
`repository` in pyproject.toml is empty, and the words stay without the link. The files are in the
source distribution.
"""

import posixpath
import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

PAPER = "https://arxiv.org/abs/2412.16682"
_LINK = re.compile(r"(?<!!)\[([^\]\[]+)\]\((?!https?:|#)([^)\s]+)\)")
_PICTURE = re.compile(r"<picture>.*?</picture>\n*", re.DOTALL)
_SOURCE = re.compile(r'\b(src|srcset)="(?!https?:)([^"]+)"')
_VERSION = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)


class CustomMetadataHook(MetadataHookInterface):
    """Runs with every build."""

    def update(self, metadata: dict[str, object]) -> None:
        """Set the README and the addresses."""
        root = Path(self.root)
        repository = str(self.config.get("repository", "")).removesuffix("/")
        version_file = root / str(self.config.get("version", "src/taskshield/_version.py"))
        found = _VERSION.search(version_file.read_text(encoding="utf-8"))
        if found is None:
            raise ValueError(f"{version_file.name} has no version")
        text = index_readme(
            (root / "README.md").read_text(encoding="utf-8"),
            repository=repository,
            version=found[1],
            folder=str(self.config.get("folder", "")),
        )
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        metadata["urls"] = project_urls(repository)


def index_readme(text: str, *, repository: str, version: str, folder: str = "") -> str:
    """The README with links that work outside of the repository.

    Args:
        text: The README as it is in the repository.
        repository: Address of the repository; empty if it has none.
        version: The version whose tag the links name.
        folder: The folder of the README in the repository.
    """

    def path(target: str) -> str:
        return posixpath.normpath(posixpath.join(folder, target))

    if not repository:
        return _LINK.sub(r"\1", _PICTURE.sub("", text))
    text = _LINK.sub(lambda m: f"[{m[1]}]({repository}/blob/v{version}/{path(m[2])})", text)
    return _SOURCE.sub(lambda m: f'{m[1]}="{repository}/raw/v{version}/{path(m[2])}"', text)


def project_urls(repository: str) -> dict[str, str]:
    """The addresses that an index lists."""
    if not repository:
        return {"Paper": PAPER}
    return {
        "Repository": repository,
        "Documentation": f"{repository}/blob/main/docs/index.md",
        "Changelog": f"{repository}/blob/main/CHANGELOG.md",
        "Issues": f"{repository}/issues",
        "Paper": PAPER,
    }
