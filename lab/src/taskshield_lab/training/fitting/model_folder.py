"""Writes the folder of a released model: network, tokenizer, decision, manifest."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from taskshield.judges.embedded.network.model_files import write_manifest


def write_model_folder(
    network_onnx: Path,
    tokenizer: Path,
    decision: Mapping[str, Any],
    prefilter: Path,
    out: Path,
    *,
    name: str,
    version: str,
) -> None:
    """Write all files of a model and their manifest; on an error `out` stays as it was."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=out.parent) as scratch:
        folder = Path(scratch)
        shutil.copyfile(network_onnx, folder / "model.onnx")
        shutil.copyfile(tokenizer, folder / "tokenizer.json")
        shutil.copyfile(prefilter, folder / "glance.npy")
        text = json.dumps(decision, indent=1, ensure_ascii=False)
        (folder / "decision.json").write_text(text + "\n", encoding="utf-8")
        write_manifest(folder, name, version)
        out.mkdir(exist_ok=True)
        for file in folder.iterdir():
            shutil.move(file, out / file.name)
