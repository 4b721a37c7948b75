import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from taskshield.core.errors import ConfigError, ModelError
from taskshield.judges.embedded.network.model_files import verified, write_manifest

FILES = {"model.onnx": b"\x08network" * 100, "tokenizer.json": b"{}", "decision.json": b"[]"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    write_manifest(tmp_path, "guard", "2.1")
    return tmp_path


def test_a_sound_folder_is_read_with_its_name_and_hash(folder: Path) -> None:
    found = verified(folder)
    assert (found.name, found.version) == ("guard", "2.1")
    assert found.model == FILES["model.onnx"]
    assert found.tokenizer == FILES["tokenizer.json"]
    assert found.decision == FILES["decision.json"]
    assert found.digest == sha256((folder / "manifest.json").read_bytes()).hexdigest()
    assert found.label == f"guard-2.1@{found.digest[:12]}"


def test_the_manifest_is_the_same_for_the_same_files(folder: Path) -> None:
    before = (folder / "manifest.json").read_bytes()
    write_manifest(folder, "guard", "2.1")
    assert (folder / "manifest.json").read_bytes() == before


def test_a_model_may_have_a_prefilter(folder: Path) -> None:
    assert verified(folder).glance is None
    (folder / "glance.npy").write_bytes(b"words")
    refused(
        folder, "its folder has 'glance.npy', which is not part of it"
    )  # the manifest does not know of it
    write_manifest(folder, "guard", "2.1")
    assert verified(folder).glance == b"words"
    (folder / "glance.npy").write_bytes(b"world")
    refused(folder, "glance.npy does not match its hash")
    (folder / "glance.npy").unlink()
    refused(folder, "glance.npy is missing")


def refused(folder: Path, words: str) -> None:
    with pytest.raises(ModelError, match=words) as caught:
        verified(folder)
    assert isinstance(caught.value, ConfigError)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    refused(tmp_path / "nowhere", "missing: there is no folder .*nowhere")


@pytest.mark.parametrize("name", [*FILES, "manifest.json"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    refused(folder, f"damaged: {name} is missing. Reinstall taskshield")


@pytest.mark.parametrize("name", FILES)
def test_a_file_changed_by_one_bit_does_not_match_its_hash(folder: Path, name: str) -> None:
    content = bytearray((folder / name).read_bytes())
    content[-1] ^= 1
    (folder / name).write_bytes(content)
    refused(folder, f"damaged: {name} does not match its hash. Reinstall taskshield")


@pytest.mark.parametrize("name", FILES)
def test_a_truncated_or_lengthened_file_is_found_by_its_size(folder: Path, name: str) -> None:
    content = (folder / name).read_bytes()
    for other in (content[:-1], content + b"\n", b""):
        (folder / name).write_bytes(other)
        refused(folder, f"{name} has {len(other)} bytes instead of {len(content)}")


def test_a_file_that_grows_after_its_size_was_checked_is_not_loaded(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "taskshield.judges.embedded.network.model_files._same_size", lambda *_: None
    )
    with (folder / "model.onnx").open("ab") as file:
        file.write(b"more")
    refused(folder, "model.onnx is too long")


def test_a_folder_in_place_of_a_file_is_refused(folder: Path) -> None:
    path = folder / "model.onnx"
    path.unlink()
    path.mkdir()
    refused(folder, "model.onnx")
    (folder / "manifest.json").unlink()
    (folder / "manifest.json").mkdir()
    refused(folder, "manifest.json cannot be read")


@pytest.mark.parametrize("name", ["model.onnx.data", "extra.bin", "__init__.py"])
def test_an_unlisted_file_is_refused(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"")
    refused(folder, f"its folder has '{name}', which is not part of it")
    with pytest.raises(ModelError, match="not part of it"):
        write_manifest(folder, "guard", "2.1")


@pytest.mark.parametrize(
    "text", [b"", b"{", b"\xff\xfe", b"null", b"[]", b'"x"', b"[" * 15_000, b"{}"]
)
def test_a_manifest_that_is_none_is_malformed(folder: Path, text: bytes) -> None:
    (folder / "manifest.json").write_bytes(text)
    refused(folder, "manifest.json is malformed")


def test_an_endless_manifest_is_not_read(folder: Path) -> None:
    (folder / "manifest.json").write_bytes(b" " * 100_000)
    refused(folder, "manifest.json is too long")


def entry(content: Any) -> Any:
    return content["files"]["model.onnx"]


CHANGES: list[Callable[[Any], object]] = [
    lambda c: c.update(format="1"),
    lambda c: c.update(format=True),
    lambda c: c.update(name=""),
    lambda c: c.update(name="a name\n[31m"),
    lambda c: c.update(version=2),
    lambda c: c.pop("version"),
    lambda c: c.update(more=1),
    lambda c: c.update(files=[]),
    lambda c: c.update(files={}),
    lambda c: c["files"].pop("decision.json"),
    lambda c: c["files"].update({"other.bin": entry(c)}),
    lambda c: c["files"].update({"../model.onnx": c["files"].pop("model.onnx")}),
    lambda c: c["files"].update({"/etc/passwd": c["files"].pop("model.onnx")}),
    lambda c: c["files"].update({"./model.onnx": entry(c)}),
    lambda c: c["files"].update({"model.onnx": "x"}),
    lambda c: entry(c).update(bytes=-1),
    lambda c: entry(c).update(bytes=True),
    lambda c: entry(c).update(bytes=1.0),
    lambda c: entry(c).update(sha256="0" * 63),
    lambda c: entry(c).update(sha256=entry(c)["sha256"].upper()),
    lambda c: entry(c).update(sha256=None),
    lambda c: entry(c).update(path="/etc/passwd"),
    lambda c: entry(c).pop("bytes"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_manifest_with_anything_else_in_it_is_malformed(
    folder: Path, change: Callable[[Any], object]
) -> None:
    content = json.loads((folder / "manifest.json").read_bytes())
    change(content)
    (folder / "manifest.json").write_text(json.dumps(content))
    refused(folder, "manifest.json is malformed")


def test_another_format_is_distinguished_from_damage(folder: Path) -> None:
    (folder / "manifest.json").write_text('{"format": 2, "parts": []}')
    refused(
        folder, "release of taskshield reads models of format 1; the embedded model has another"
    )


@pytest.mark.parametrize(("name", "version"), [("", "1"), ("a b", "1"), ("a", "../1"), ("a", "é")])
def test_a_model_is_named_in_plain_words(folder: Path, name: str, version: str) -> None:
    with pytest.raises(ModelError, match="cannot name a model"):
        write_manifest(folder, name, version)


def test_no_manifest_is_written_of_a_folder_that_lacks_a_file(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"decision\.json is missing"):
        write_manifest(tmp_path, "guard", "1")
    assert not list(tmp_path.iterdir())
    with pytest.raises(ModelError, match="cannot be read"):
        write_manifest(tmp_path / "nowhere", "guard", "1")
