from pathlib import Path
from random import Random

import numpy as np
import onnx
import pytest
import torch
from numpy.typing import NDArray

from taskshield.judges.embedded.network.encoding import Encoded, output_ids, pair_ids
from taskshield_lab.training.network.network import Network, load_base
from taskshield_lab.training.network.onnx_export import onnx_scores, to_int8, to_onnx
from taskshield_lab.training.network.training_loop import predict
from tests.lab.training import tiny_base

TOKENIZER = tiny_base.tokenizer()


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Network:
    torch.manual_seed(4)
    return load_base(tiny_base.write(tmp_path_factory.mktemp("base")))


@pytest.fixture(scope="module")
def full(network: Network, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("onnx") / "full.onnx"
    to_onnx(network, path)
    return path


@pytest.fixture(scope="module")
def small(full: Path) -> Path:
    to_int8(full, full.with_name("small.onnx"))
    return full.with_name("small.onnx")


def sequences() -> list[Encoded]:
    """From three tokens to the longest that there are."""
    rng = Random(2)
    texts = [" ".join(rng.choices(("valve", "pump", "a7", "x"), k=k)) for k in (0, 1, 5, 40, 400)]
    pairs = [pair_ids(TOKENIZER, text, text[::-1]) for text in texts]
    return [*pairs, *output_ids(TOKENIZER, "read", [f"open {text}" for text in texts] * 3)]


def expected(network: Network) -> list[NDArray[np.float32]]:
    tags, pairs = predict(network, sequences())
    return [np.array([*row, *pair], np.float32) for row, pair in zip(tags, pairs, strict=True)]


def test_sequences_of_all_lengths_score_as_in_torch(network: Network, full: Path) -> None:
    lengths = {len(one.ids) for one in sequences()}
    assert min(lengths) == 3 and max(lengths) == 256
    for one, other in zip(onnx_scores(full, sequences()), expected(network), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-3)


def test_eight_bits_score_nearly_the_same(network: Network, small: Path) -> None:
    found, wanted = (
        np.concatenate(onnx_scores(small, sequences())),
        np.concatenate(expected(network)),
    )
    assert np.abs(found - wanted).mean() < 0.03
    assert np.abs(found - wanted).max() < 0.15
    assert np.abs(found - wanted).max() > 0


def test_all_dense_layers_are_of_eight_bits(small: Path) -> None:
    kinds = {
        node.name: node.op_type for node in onnx.load(small).graph.node if "MatMul" in node.op_type
    }
    dense = ("/query/", "/widen/", "/narrow/")
    found = [kind for name, kind in kinds.items() if any(part in name for part in dense)]
    assert len(found) == 6 and set(found) == {"MatMulInteger"}


def test_a_batch_of_any_size_can_be_predicted(network: Network, full: Path) -> None:
    import onnxruntime

    session = onnxruntime.InferenceSession(full, providers=["CPUExecutionProvider"])
    for shape in ((1, 2), (3, 40), (5, 256)):
        ids = np.random.default_rng(1).integers(0, len(tiny_base.WORDS), shape)
        mask = np.ones(shape, np.int64)
        mask[0, 1:] = 0
        given = {"ids": ids, "types": ids % 2, "mask": mask}
        tags, pair = session.run(["tags", "pair"], given)
        with torch.no_grad():
            wanted, both = network.eval()(*(torch.from_numpy(one) for one in given.values()))
        np.testing.assert_allclose(tags, wanted.numpy(), atol=1e-3)
        np.testing.assert_allclose(pair, both.numpy(), atol=1e-3)


def test_names_are_those_that_the_model_at_run_time_asks_for(full: Path) -> None:
    graph = onnx.load(full).graph
    assert [one.name for one in graph.input] == ["ids", "types", "mask"]
    assert [one.name for one in graph.output] == ["tags", "pair"]
