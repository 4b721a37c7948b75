"""Exports a network to ONNX and to int8, and scores sequences with the exported file."""

import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from taskshield.judges.embedded.network.encoding import Encoded
from taskshield.judges.embedded.network.model import inference
from taskshield_lab.training.network.network import Network

_OPSET = 17


def to_onnx(network: Network, path: Path) -> None:
    """Export a network in single precision."""
    ids = torch.ones(2, 16, dtype=torch.int64)  # any ids that all vocabularies have
    by_token, by_sequence = {0: "batch", 1: "tokens"}, {0: "batch"}
    names = ["ids", "types", "mask"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter warns about its own replacement
        torch.onnx.export(
            network.cpu().float().eval(),
            (ids, torch.zeros_like(ids), torch.ones_like(ids)),
            str(path),
            input_names=names,
            output_names=["tags", "pair"],
            dynamic_axes={**{name: by_token for name in (*names, "tags")}, "pair": by_sequence},
            opset_version=_OPSET,
            dynamo=False,
        )


def to_int8(source: Path, target: Path) -> None:
    """Quantise an exported network to weights of eight bits.

    One bit stays unused: processors without 8-bit instructions would overflow, and this way all
    processors give nearly the same scores. The inputs of the second dense layer of a block are
    skewed, and rounding them would cause most of the error, so `network` trains with that rounding.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(
        source, target, weight_type=QuantType.QInt8, per_channel=True, reduce_range=True
    )


def onnx_scores(path: Path, sequences: Sequence[Encoded]) -> list[NDArray[np.float32]]:
    """The scores of sequences by an exported file: logits at the marks, then those of the pair."""
    session = inference(path.read_bytes(), 1)
    found = []
    for sequence in sequences:
        ids = np.array([sequence.ids], np.int64)
        given = {"ids": ids, "types": np.array([sequence.types], np.int64), "mask": ids * 0 + 1}
        tags, pair = session.run(["tags", "pair"], given)
        found.append(np.concatenate([tags[0, [place for place, _ in sequence.marks]], pair[0]]))
    return found
