"""The files of a release: wheels, sdist, the SBOM of what the server needs, and their checksums."""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tools.release.refusal import Refusal

SBOM_EXTRAS = "server,postgres,openai,anthropic,otel"
"""What the container image installs."""

_PROGRAMS = Path(sys.executable).parent


def build(root: Path, folder: Path, version: str) -> list[Path]:
    """Build all files of a release into a folder, and check them.

    Raises:
        Refusal: A file could not be built, or an index would refuse it.
    """
    folder.mkdir(parents=True)
    _uv("build", "--quiet", "--out-dir", str(folder), str(root))
    _uv("build", "--quiet", "--wheel", "--out-dir", str(folder), str(root / "lab"))
    (folder / ".gitignore").unlink(missing_ok=True)
    packages = sorted(folder.iterdir())
    expected = {
        f"taskshield-{version}-py3-none-any.whl",
        f"taskshield-{version}.tar.gz",
        f"taskshield_lab-{version}-py3-none-any.whl",
    }
    if {path.name for path in packages} != expected:
        raise Refusal(f"The build made {', '.join(path.name for path in packages)}")
    _run([str(_PROGRAMS / "twine"), "check", "--strict", *map(str, packages)])
    write_sbom(folder / f"taskshield-{version}-py3-none-any.whl", root / "constraints.txt")
    return write_checksums(folder)


def write_sbom(wheel: Path, constraints: Path, *, validate: bool = True) -> Path:
    """Write a CycloneDX document of what the wheel installs with `SBOM_EXTRAS`, beside it.

    Args:
        wheel: The wheel.
        constraints: The versions to install.
        validate: Whether to compare it with the schema, which takes most of the time.
    """
    version = wheel.name.split("-")[1]
    target = wheel.with_name(f"taskshield-{version}.cdx.json")
    with tempfile.TemporaryDirectory() as temporary:
        environment = Path(temporary) / "environment"
        python = environment / "bin" / "python"
        _uv("venv", "--quiet", "--python", sys.executable, str(environment))
        _uv(
            *("pip", "install", "--quiet", "--python", str(python)),
            *("--constraint", str(constraints), f"taskshield[{SBOM_EXTRAS}] @ {wheel.as_uri()}"),
        )
        program = [str(_PROGRAMS / "cyclonedx-py"), "environment", "--output-reproducible"]
        program.append("--validate" if validate else "--no-validate")
        _run([*program, "--output-format", "JSON", "--output-file", str(target), str(python)])
    document = _about_product(json.loads(target.read_text(encoding="utf-8")))
    target.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return target


def write_checksums(folder: Path) -> list[Path]:
    """Write SHA256SUMS, which `sha256sum --check` reads. Returns all files."""
    files = sorted(folder.iterdir())
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    sums = folder / "SHA256SUMS"
    sums.write_text("".join(lines), encoding="utf-8")
    return [*files, sums]


def _about_product(document: dict[str, Any]) -> dict[str, Any]:
    """The SBOM with the product as its subject, without the place of the wheel on this machine."""
    components = document["components"]
    (product,) = (each for each in components if each["name"] == "taskshield")
    product.pop("externalReferences", None)
    product["purl"] = f"pkg:pypi/taskshield@{product['version']}"
    document["metadata"]["component"] = product
    document["components"] = [each for each in components if each is not product]
    return document


def _uv(*words: str) -> None:
    _run([str(_PROGRAMS / "uv"), *words], cwd="/")


def _run(command: list[str], cwd: str | None = None) -> None:
    variables = {key: text for key, text in os.environ.items() if key != "VIRTUAL_ENV"}
    done = subprocess.run(
        command, cwd=cwd, env=variables, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise Refusal(f"{Path(command[0]).name} {command[1]}:\n{done.stdout}{done.stderr}".strip())
