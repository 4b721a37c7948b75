"""The repository that is released: what must hold before, and the one change at the end.

Owns all use of git. A release is a commit on the branch and an annotated tag, made in one
transaction.
"""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tools.release.file_edits import parse_version
from tools.release.refusal import Refusal

_TAG = re.compile(r"v\d+\.\d+\.\d+")


@dataclass(frozen=True)
class Repository:
    """A checkout."""

    root: Path

    def git(self, *words: str, stdin: str | None = None) -> str:
        """What a git command prints.

        Raises:
            Refusal: It failed.
        """
        done = subprocess.run(
            ["git", "-C", self.root, *words],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise Refusal(f"git {words[0]}: {done.stderr.strip()}")
        return done.stdout.strip()

    def branch(self) -> str:
        """The reference of the current branch.

        Raises:
            Refusal: There is none.
        """
        name = self.git("rev-parse", "--symbolic-full-name", "HEAD")
        if not name.startswith("refs/heads/"):
            raise Refusal("No branch is checked out: a release is a commit on a branch")
        return name

    def check(self, version: str, current: str) -> None:
        """Check that this version can be released.

        Args:
            version: The version to release.
            current: The version in the files.

        Raises:
            Refusal: It cannot.
        """
        wanted = parse_version(version)
        self.branch()
        changed = self.git("status", "--porcelain")
        if changed:
            raise Refusal(f"There are changes that are not committed:\n{changed}")
        released = self.released()
        if version in released:
            raise Refusal(f"The tag v{version} exists: this version is released")
        newest = max(released, key=parse_version, default=None)
        if newest is not None and wanted <= parse_version(newest):
            raise Refusal(f"{version} is not newer than {newest}, which is released")
        if wanted < parse_version(current):
            raise Refusal(f"{version} is older than {current}, the version of the package")

    def released(self) -> list[str]:
        """The versions that have a tag."""
        tags = self.git("tag", "--list").splitlines()
        return [tag.removeprefix("v") for tag in tags if _TAG.fullmatch(tag)]

    def clone_into(self, folder: Path) -> "Repository":
        """Clone the current commit, with its branch and the name of its author."""
        self.git("clone", "--quiet", "--no-hardlinks", str(self.root), str(folder))
        clone = Repository(folder)
        for line in self.git("config", "--get-regexp", "^user\\.").splitlines():
            clone.git("config", *line.split(" ", 1))
        return clone

    def commit(self, message: str) -> str:
        """Commit all changes, and return the commit."""
        self.git("commit", "--quiet", "--all", "--message", message)
        return self.git("rev-parse", "HEAD")

    def tag(self, name: str, message: str) -> None:
        """Make an annotated tag on the current commit."""
        # Else git drops headings, which begin with its sign for comments.
        self.git("tag", "--annotate", name, "--message", message, "--cleanup", "verbatim")

    def accept(self, clone: "Repository", tag: str) -> None:
        """Take the commit and the tag of the clone, both or none.

        Raises:
            Refusal: The branch has moved, or files have changed meanwhile.
        """
        branch = self.branch()
        before = clone.git("rev-parse", "HEAD~1")
        if self.git("rev-parse", "HEAD") != before or self.git("status", "--porcelain"):
            raise Refusal("The checkout has changed meanwhile. Nothing was released; run it again")
        self.git("fetch", "--quiet", "--no-tags", str(clone.root), f"refs/tags/{tag}")
        tag_object = self.git("rev-parse", "FETCH_HEAD")
        commit = self.git("rev-parse", "FETCH_HEAD^{commit}")
        self.git("read-tree", "-m", "-u", before, commit)
        try:
            self.git(
                "update-ref",
                "--stdin",
                stdin=f"start\nupdate {branch} {commit} {before}\n"
                f"create refs/tags/{tag} {tag_object}\ncommit\n",
            )
        except BaseException:
            self.git("read-tree", "-m", "-u", commit, before)
            raise
