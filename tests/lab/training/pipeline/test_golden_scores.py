import json
from pathlib import Path

import numpy as np
import pytest

from taskshield.judges.embedded.network.encoding import load_tokenizer
from taskshield_lab.training.network.network import load_base
from taskshield_lab.training.network.onnx_export import to_int8, to_onnx
from taskshield_lab.training.pipeline import golden_scores
from tests.lab.training import tiny_base

TOKENIZER = tiny_base.tokenizer()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("golden")
    to_onnx(load_base(tiny_base.write(folder / "base")), folder / "full.onnx")
    to_int8(folder / "full.onnx", folder / "small.onnx")
    return folder


def test_there_is_a_row_for_every_fixed_text(folder: Path) -> None:
    found = golden_scores.compare_scores(folder / "full.onnx", folder / "small.onnx", TOKENIZER)
    pairs = [2] * len(golden_scores.PAIRS)
    marked = [len(one.marks) + 2 for one in golden_scores.sequences(TOKENIZER)[len(pairs) :]]
    assert [len(row) for row in found["exact"]] == [*pairs, *marked]
    assert [len(row) for row in found["shipped"]] == [*pairs, *marked]


def test_differences_are_those_of_the_scores(folder: Path) -> None:
    found = golden_scores.compare_scores(folder / "full.onnx", folder / "small.onnx", TOKENIZER)
    apart = np.abs(np.concatenate(found["exact"]) - np.concatenate(found["shipped"]))
    assert found["mean difference"] == pytest.approx(apart.mean(), abs=2e-4)
    assert found["largest difference"] == pytest.approx(apart.max(), abs=2e-4)
    same = golden_scores.compare_scores(folder / "full.onnx", folder / "full.onnx", TOKENIZER)
    assert same["largest difference"] == 0


def test_scores_are_read_as_they_were_written(folder: Path) -> None:
    found = golden_scores.compare_scores(folder / "full.onnx", folder / "small.onnx", TOKENIZER)
    golden_scores.write(folder / "golden.json", found)
    assert json.loads((folder / "golden.json").read_text()) == found


def test_every_segment_of_the_fixed_texts_is_marked_once() -> None:
    tokenizer = load_tokenizer(TOKENIZER.to_str().encode())
    outputs = golden_scores.sequences(tokenizer)[len(golden_scores.PAIRS) :]
    assert sum(len(one.marks) for one in outputs) == sum(len(p) for _, p in golden_scores.OUTPUTS)
