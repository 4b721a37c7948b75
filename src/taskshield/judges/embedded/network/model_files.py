"""The folder of the model's files, with a manifest that says what each of them must be.

The manifest finds damage: a broken download, a full disk, a file of another release. It is no
signature: an attacker who can write into the folder can write a manifest, too.
"""

import json
import re
from collections.abc import Container, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import cast

from taskshield.core.errors import ModelError

FORMAT = 1
"""Version of the folder's format. A reader knows exactly one."""

SHIPPED = Path(__file__).with_name("weights")
"""The shipped folder."""

_MANIFEST = "manifest.json"
_MODEL, _TOKENIZER, _DECISION = "model.onnx", "tokenizer.json", "decision.json"
_FILES = frozenset({_MODEL, _TOKENIZER, _DECISION})
_GLANCE = "glance.npy"
_ALL_FILES = _FILES | {_GLANCE}
"""The last one is optional."""
_MANIFEST_BYTES = 16_384
"""A longer manifest is malformed."""
_REMEDY = "Reinstall taskshield, or make the model again if it is your own."
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFiles:
    """A model's files, as they were when they were checked.

    They are kept as bytes, so that the bytes that are loaded are those that were hashed.
    """

    name: str
    version: str
    digest: str
    """SHA-256 of the manifest, which has those of all files."""
    model: bytes
    """The network, in ONNX."""
    tokenizer: bytes
    """The tokenizer, as the library `tokenizers` writes it."""
    decision: bytes
    """The classifier, as JSON."""
    glance: bytes | None = None
    """The prefilter's weights, as numpy writes them, where the model has them."""

    @property
    def label(self) -> str:
        """Name, version and hash, as logged with each decision."""
        return f"{self.name}-{self.version}@{self.digest[:12]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A file in the manifest."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Manifest:
    name: str
    version: str
    digest: str
    files: Mapping[str, _Entry]


def verified(folder: Path) -> ModelFiles:
    """The files of a folder, each compared with the manifest.

    Raises:
        ModelError: A file is missing, damaged or unknown.
    """
    manifest = _manifest(folder)
    _only_known(folder, manifest.files)
    for name, entry in manifest.files.items():  # the cheap check first, for all files
        _same_size(folder / name, entry)
    return ModelFiles(
        name=manifest.name,
        version=manifest.version,
        digest=manifest.digest,
        model=_content(folder / _MODEL, manifest),
        tokenizer=_content(folder / _TOKENIZER, manifest),
        decision=_content(folder / _DECISION, manifest),
        glance=_content(folder / _GLANCE, manifest) if _GLANCE in manifest.files else None,
    )


def write_manifest(folder: Path, name: str, version: str) -> None:
    """Write the manifest of the files that are in a folder now.

    Raises:
        ModelError: A file is missing or unknown, or the name or version is no plain word.
    """
    for label in (name, version):
        if not _LABEL.fullmatch(label):
            raise ModelError(
                f"{label!r} cannot name a model. Use letters, digits, dots and dashes."
            )
    _only_known(folder, _ALL_FILES)
    there = {path.name for path in _paths(folder)} & _ALL_FILES
    files = {one: _described(folder / one) for one in sorted(_FILES | there)}
    content = {"format": FORMAT, "name": name, "version": version, "files": files}
    (folder / _MANIFEST).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _described(path: Path) -> dict[str, object]:
    content = _read(path)
    return {"bytes": len(content), "sha256": sha256(content).hexdigest()}


def _manifest(folder: Path) -> _Manifest:
    if not folder.is_dir():
        raise ModelError(f"The embedded model is missing: there is no folder {str(folder)!r}.")
    text = _read(folder / _MANIFEST, limit=_MANIFEST_BYTES)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise _malformed("it is not JSON") from None
    fields = _object(content)
    version = fields.get("format")
    if type(version) is not int:
        raise _malformed("it does not name its format")
    if version != FORMAT:  # first: another format has other fields
        raise ModelError(
            f"This release of taskshield reads models of format {FORMAT}; the embedded model has"
            f" another. {_REMEDY}"
        )
    if fields.keys() != {"format", "name", "version", "files"}:
        raise _malformed("it has unexpected fields")
    files = _object(fields["files"])
    if not _FILES <= files.keys() <= _ALL_FILES:
        raise _malformed("it does not list exactly the files of a model")
    return _Manifest(
        name=_matching(_LABEL, fields["name"]),
        version=_matching(_LABEL, fields["version"]),
        digest=sha256(text).hexdigest(),
        files={name: _entry(files[name]) for name in sorted(files)},
    )


def _entry(value: object) -> _Entry:
    fields = _object(value)
    size = fields.get("bytes")
    if fields.keys() != {"bytes", "sha256"} or type(size) is not int or size < 0:
        raise _malformed("a file lacks its size or its hash")
    return _Entry(size=size, sha256=_matching(_SHA256, fields["sha256"]))


def _object(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise _malformed("a member is not an object")
    return cast(dict[str, object], value)


def _matching(pattern: re.Pattern[str], value: object) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise _malformed("a name, a version or a hash is invalid")
    return value


def _malformed(what: str) -> ModelError:
    return _damaged(f"{_MANIFEST} is malformed ({what})")


def _only_known(folder: Path, files: Container[str]) -> None:
    """Raise where the folder has a file that the manifest does not list."""
    for path in _paths(folder):
        if path.name not in files and path.name != _MANIFEST:
            raise _damaged(f"its folder has {path.name!r}, which is not part of it")


def _paths(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise ModelError(f"The embedded model cannot be read: {error.strerror}.") from None


def _same_size(path: Path, entry: _Entry) -> None:
    try:
        size = path.stat().st_size
    except OSError:
        raise _missing(path) from None
    if size != entry.size:
        raise _damaged(f"{path.name} has {size} bytes instead of {entry.size}")


def _content(path: Path, manifest: _Manifest) -> bytes:
    """The bytes of a file, read once: the same bytes are hashed and loaded."""
    entry = manifest.files[path.name]
    content = _read(path, limit=entry.size)
    if sha256(content).hexdigest() != entry.sha256:
        raise _damaged(f"{path.name} does not match its hash")
    return content


def _read(path: Path, *, limit: int | None = None) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read() if limit is None else file.read(limit + 1)
    except FileNotFoundError:
        raise _missing(path) from None
    except OSError as error:
        raise _damaged(f"{path.name} cannot be read: {error.strerror}") from None
    if limit is not None and len(content) > limit:
        raise _damaged(f"{path.name} is too long")
    return content


def _missing(path: Path) -> ModelError:
    return _damaged(f"{path.name} is missing")


def _damaged(what: str) -> ModelError:
    return ModelError(f"The embedded model is damaged: {what}. {_REMEDY}")
