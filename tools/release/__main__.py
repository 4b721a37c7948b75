"""The command `python -m tools.release VERSION`, which `make release` runs.

Owns the order of the steps.
"""

import argparse
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

from tools.release import artifacts, file_edits
from tools.release.refusal import Refusal
from tools.release.repository import Repository

Build = Callable[[Path, Path, str], list[Path]]

_REFUSED = 1
_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Make a release, and return the exit status."""
    given = _parser().parse_args(argv)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        release(Path.cwd(), given.version, checks=given.checks, dry_run=given.dry_run)
    except Refusal as why:
        print(f"No release: {why}.", file=sys.stderr)
        return _REFUSED
    except KeyboardInterrupt:
        print("Interrupted. Nothing was released.", file=sys.stderr)
        return _INTERRUPTED
    return 0


def release(
    root: Path,
    version: str,
    *,
    checks: str,
    dry_run: bool = False,
    build: Build = artifacts.build,
) -> None:
    """Make a release of the checkout in this folder.

    Args:
        root: The checkout.
        version: The version, x.y.z.
        checks: The command that must succeed on the commit of the release; a line for the shell.
        dry_run: Whether to leave the checkout as it is.
        build: Builds the files of the release into a folder.

    Raises:
        Refusal: The release is not made.
    """
    repository = Repository(root)
    repository.check(version, file_edits.read_version(root))
    target = root / "dist" / version
    if target.exists():
        raise Refusal(f"{target.relative_to(root)} exists: move it away")
    with tempfile.TemporaryDirectory(prefix="release") as temporary:
        clone = repository.clone_into(Path(temporary) / "checkout")
        edit(clone.root, version)
        clone.git("add", file_edits.FROZEN)
        clone.commit(f"Release {version}")
        clone.tag(f"v{version}", f"taskshield {version}\n\n{notes_of(clone.root, version)}\n")
        print(clone.git("show", "--stat", "--format=%s"))
        print(f"checks: {checks}", flush=True)
        if subprocess.run(checks, shell=True, cwd=clone.root, check=False).returncode != 0:
            raise Refusal("the checks fail on the commit of the release")
        if clone.git("status", "--porcelain"):
            raise Refusal("the checks have changed files")
        staged = Path(temporary) / "dist"
        for path in build(clone.root, staged, version):
            print(f"{path.stat().st_size:>12,} {path.name}")
        if dry_run:
            print("A dry run: nothing was released.")
            return
        publish(repository, clone, staged, target, f"v{version}")
    print(f"Released {version}: a commit, the tag v{version}, and dist/{version}.")
    print("Nothing was sent anywhere: docs/releasing.md says how to publish it.")


def edit(root: Path, version: str) -> None:
    """Change the files that a release changes."""
    file_edits.move_unreleased(root, version, f"{datetime.now(UTC):%Y-%m-%d}")
    file_edits.set_version(root, version)
    file_edits.freeze_formats(root, version)


def notes_of(root: Path, version: str) -> str:
    """The notes of a version in the changelog."""
    text = (root / file_edits.CHANGELOG).read_text(encoding="utf-8")
    rest = text.partition(f"\n## {version} - ")[2].partition("\n")[2]
    return rest.partition("\n## ")[0].strip()


def publish(
    repository: Repository, clone: Repository, staged: Path, target: Path, tag: str
) -> None:
    """Give the checkout the files, the commit and the tag. Signals wait until it is done."""
    partial = target.with_name(f".{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    shutil.copytree(staged, partial)
    try:
        with _signals_wait():
            repository.accept(clone, tag)
            partial.rename(target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def _signals_wait() -> Iterator[None]:
    blocked = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.release",
        description="Make a release: a commit, a tag, and files in dist. It publishes nothing.",
    )
    parser.add_argument("version", metavar="VERSION", help="three numbers, such as 0.2.0")
    parser.add_argument(
        "--checks",
        default="make check test",
        metavar="COMMAND",
        help="must succeed on the commit of the release (default: make check test)",
    )
    parser.add_argument("--dry-run", action="store_true", help="do all of it, but change nothing")
    return parser


if __name__ == "__main__":
    sys.exit(main())
