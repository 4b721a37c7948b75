"""Build the container image: `python -m tools.image`, or `make image`.

It builds the wheel, or takes the one that it is given, and hands the builder a folder with nothing
but deploy/Containerfile, the wheel and constraints.txt. docs/deployment.md says how to run it.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILDERS = ("docker", "podman", "buildah")


def main(argv: Sequence[str] | None = None) -> int:
    """Build the image, and return the exit status of the builder."""
    given, more = _parser().parse_known_args(argv)
    builder = given.builder or installed_builder()
    if builder is None:
        print(f"No builder is installed. Install one of: {', '.join(BUILDERS)}.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        context = Path(folder)
        wheel = fill(context, given.wheel)
        command = build_command(
            builder, context, wheel=wheel, tag=given.tag, base=given.base, more=more
        )
        return subprocess.run(command, check=False).returncode


def installed_builder() -> str | None:
    """The first builder that this machine has."""
    return next((name for name in BUILDERS if shutil.which(name)), None)


def fill(context: Path, wheel: Path | None = None) -> Path:
    """Put what the image is built from into a folder. Returns the wheel in it."""
    for source in (ROOT / "deploy" / "Containerfile", ROOT / "constraints.txt"):
        shutil.copy(source, context)
    if wheel is not None:
        return Path(shutil.copy(wheel, context))
    uv = Path(sys.executable).with_name("uv")
    subprocess.run([uv, "build", "--quiet", "--wheel", "--out-dir", context, ROOT], check=True)
    (built,) = context.glob("taskshield-*.whl")
    return built


def build_command(
    builder: str,
    context: Path,
    *,
    wheel: Path,
    tag: str | None,
    base: str | None,
    more: Sequence[str] = (),
) -> list[str]:
    """The command line of the builder.

    Args:
        builder: docker, podman or buildah.
        context: The folder with the files.
        wheel: The wheel; its name has the version.
        tag: Name of the image; by default taskshield:VERSION.
        base: Base image; by default that of the Containerfile.
        more: Further options of the builder.
    """
    version = wheel.name.split("-")[1]
    # Else podman and buildah leave the health check out.
    form = [] if builder == "docker" else ["--format", "docker"]
    values = {"VERSION": version, "REVISION": _revision(), "CREATED": _now()}
    if base is not None:
        values["BASE"] = base
    arguments = [word for key, text in values.items() for word in ("--build-arg", f"{key}={text}")]
    return [
        *(builder, "build", *form, "--file", str(context / "Containerfile")),
        *("--tag", tag or f"taskshield:{version}", *arguments, *more, str(context)),
    ]


def _revision() -> str:
    if shutil.which("git") is None:
        return ""
    said = subprocess.run(
        ["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    )
    return said.stdout.strip()


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.image",
        description="Build the container image. Options that are not listed go to the builder.",
    )
    parser.add_argument("--builder", choices=BUILDERS, help="default: the first that is installed")
    parser.add_argument("--base", metavar="IMAGE", help="base image (default: that of the file)")
    parser.add_argument(
        "--tag", metavar="NAME", help="name of the image (default: taskshield:VERSION)"
    )
    parser.add_argument("--wheel", type=Path, metavar="FILE", help="the wheel (default: build it)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
