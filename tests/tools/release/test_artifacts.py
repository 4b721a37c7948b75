"""The files of a release, made by the real build in a clone of this repository."""

import hashlib
import json
import subprocess
from pathlib import Path

from taskshield._version import __version__
from tests.packaging.wheels import Wheels
from tools.release import artifacts

ROOT = Path(__file__).parents[3]


def test_the_sbom_names_what_the_server_needs_at_pinned_versions(
    wheels: Wheels, tmp_path: Path
) -> None:
    wheel = tmp_path / wheels.product.name
    wheel.write_bytes(wheels.product.read_bytes())
    path = artifacts.write_sbom(wheel, ROOT / "constraints.txt", validate=False)
    assert path.name == f"taskshield-{__version__}.cdx.json"
    text = path.read_text()
    assert str(tmp_path) not in text and "file:" not in text
    read = json.loads(text)
    assert (read["bomFormat"], read["specVersion"]) == ("CycloneDX", "1.6")
    subject = read["metadata"]["component"]
    assert subject["purl"] == f"pkg:pypi/taskshield@{__version__}"
    pinned = set((ROOT / "constraints.txt").read_text().lower().replace("_", "-").splitlines())
    found = {
        f"{each['name']}=={each['version']}".lower().replace("_", "-")
        for each in read["components"]
    }
    assert found <= pinned
    names = {each.partition("==")[0] for each in found}
    assert {"onnxruntime", "asyncpg", "sqlalchemy", "openai"} <= names
    assert not names & {"pytest", "torch", "taskshield", "pip"}
    (direct,) = (each for each in read["dependencies"] if each["ref"] == subject["bom-ref"])
    assert any("onnxruntime" in each for each in direct["dependsOn"])


def test_the_checksums_are_those_that_sha256sum_reads(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_bytes(b"a")
    (tmp_path / "b.json").write_bytes(b"b")
    files = artifacts.write_checksums(tmp_path)
    assert [path.name for path in files] == ["a.whl", "b.json", "SHA256SUMS"]
    assert hashlib.sha256(b"a").hexdigest() in files[-1].read_text()
    check = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    assert subprocess.run(check, cwd=tmp_path, capture_output=True).returncode == 0
    (tmp_path / "a.whl").write_bytes(b"other")
    assert subprocess.run(check, cwd=tmp_path, capture_output=True).returncode == 1
