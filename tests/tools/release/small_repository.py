"""A small repository with the files that a release changes, and a build that takes no time."""

import subprocess
from pathlib import Path

from tools.release import file_edits

CHANGELOG = """\
# Changelog

## Unreleased

### Added

- A thing.

## 0.1.0 - 2026-01-02

- The first.
"""


def git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def make(root: Path) -> Path:
    """Make it, at version 0.1.0 and with one tag."""
    files = {
        file_edits.VERSION_FILE: '"""The version."""\n\n__version__ = "0.1.0"\n',
        file_edits.CHART: "name: taskshield\nversion: 0.1.0\nappVersion: 0.1.0\n",
        file_edits.COMPOSE: "image: ${TASKSHIELD_IMAGE:-taskshield:0.1.0}\n",
        file_edits.CHANGELOG: CHANGELOG,
        f"{file_edits.FORMATS}/1/session.json": "{}\n",
        ".gitignore": "dist/\n",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    subprocess.run(["git", "init", "--quiet", "--initial-branch", "main", root], check=True)
    git(root, "config", "user.name", "Tester")
    git(root, "config", "user.email", "tester@example.com")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "First")
    git(root, "tag", "v0.1.0")
    return root


def state(root: Path) -> tuple[str, ...]:
    """All that a release could leave behind."""
    refs = git(root, "for-each-ref", "--format", "%(refname) %(objectname)")
    files = [str(path) for path in sorted(root.rglob("*")) if ".git" not in path.parts]
    return (refs, git(root, "status", "--porcelain"), git(root, "worktree", "list"), *files)


def quick_build(root: Path, folder: Path, version: str) -> list[Path]:
    """A build of one file."""
    folder.mkdir()
    path = folder / f"taskshield-{version}.whl"
    path.write_text(file_edits.read_version(root))
    return [path]
