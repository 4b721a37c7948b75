"""Writes what runc needs to run the container image as documented: read-only, and not as root."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

STATE = "/var/lib/taskshield"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """An image that runc can run."""

    folder: Path
    """Where the description of the container is written."""
    root: Path
    """The files of the image."""
    config: Mapping[str, Any]
    """What the image says of itself."""
    state: Path
    """The folder of the store."""


def image_config(name: str) -> Mapping[str, Any]:
    """What an image says of itself: user, variables, entry point, health check."""
    said = subprocess.run(
        ["buildah", "inspect", "--type", "image", name], stdout=subprocess.PIPE, check=True
    )
    config: Mapping[str, Any] = json.loads(said.stdout)["Docker"]["config"]
    return config


def write_bundle(bundle: Bundle, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    """Write the description of a container that runs the entry point with these arguments."""
    user, group = (int(number) for number in bundle.config["User"].split(":"))
    nothing: list[str] = []
    process = {
        "terminal": False,
        "user": {"uid": user, "gid": group},
        "args": [*bundle.config["Entrypoint"], *arguments],
        "env": [*bundle.config["Env"], *(f"{key}={text}" for key, text in environment.items())],
        "cwd": "/",
        "noNewPrivileges": True,
        "capabilities": dict.fromkeys(("bounding", "effective", "permitted"), nothing),
    }
    description = {
        "ociVersion": "1.0.2",
        "process": process,
        "root": {"path": str(bundle.root), "readonly": True},
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            _tmpfs("/dev", "mode=755"),
            _tmpfs("/tmp", "nodev", "size=64m"),
            _folder(STATE, bundle.state, "rw"),
        ],
        # Without a network namespace: the server answers on this machine's loopback address.
        "linux": {"namespaces": [{"type": kind} for kind in ("pid", "mount", "ipc", "uts")]},
    }
    bundle.folder.mkdir(exist_ok=True)
    (bundle.folder / "config.json").write_text(json.dumps(description))


def _tmpfs(place: str, *options: str) -> Mapping[str, object]:
    return {
        "destination": place,
        "type": "tmpfs",
        "source": "tmpfs",
        "options": ["nosuid", *options],
    }


def _folder(place: str, source: Path, *options: str) -> Mapping[str, object]:
    return {
        "destination": place,
        "type": "bind",
        "source": str(source),
        "options": ["rbind", *options],
    }
