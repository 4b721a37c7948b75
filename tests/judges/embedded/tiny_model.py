"""A model with the interface of the embedded one, small enough to be computed by hand in tests."""

from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tokenizers import AddedToken, Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from taskshield.judges.embedded.network.model_files import write_manifest

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = (*SPECIAL, "[unused1]", *"abcdefghijklmnopqrstuvwxyz[]?", "valve", "pump", "##s")
WIDTH = 8

_RANDOM = np.random.default_rng(7)
EMBEDDING = _RANDOM.normal(size=(len(WORDS), WIDTH)).astype(np.float32)
TYPES = _RANDOM.normal(size=(2, WIDTH)).astype(np.float32)
TAGS = _RANDOM.normal(size=(WIDTH, 1)).astype(np.float32)
PAIR = _RANDOM.normal(size=(WIDTH, 2)).astype(np.float32)


def tokenizer(*, special: bool = True) -> Tokenizer:
    """A tokenizer as BERT's, which cuts and pads of its own accord as shipped ones do."""
    made = Tokenizer(
        WordPiece({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    made.normalizer = BertNormalizer()
    made.pre_tokenizer = BertPreTokenizer()
    made.add_tokens([AddedToken(token, special=special, normalized=False) for token in SPECIAL])
    made.enable_truncation(4)
    made.enable_padding(length=4)
    return made


def onnx_model(*, output: str = "pair", scale: float = 1.0) -> bytes:
    """Embeddings, a linear head for every token, and one for the mean of them."""
    arrays = {"e": EMBEDDING * np.float32(scale), "s": TYPES, "wt": TAGS, "wp": PAIR}
    arrays |= {"last": np.array([2], np.int64), "second": np.array([1], np.int64)}
    nodes = [
        helper.make_node("Gather", ["e", "ids"], ["words"]),
        helper.make_node("Gather", ["s", "types"], ["parts"]),
        helper.make_node("Add", ["words", "parts"], ["x"]),
        helper.make_node("MatMul", ["x", "wt"], ["wide"]),
        helper.make_node("Squeeze", ["wide", "last"], ["tags"]),
        helper.make_node("Cast", ["mask"], ["seen"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["seen", "last"], ["column"]),
        helper.make_node("Mul", ["x", "column"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "second"], ["sum"], keepdims=0),
        helper.make_node("ReduceSum", ["seen", "second"], ["count"], keepdims=1),
        helper.make_node("Div", ["sum", "count"], ["mean"]),
        helper.make_node("MatMul", ["mean", "wp"], [output]),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "t"])
            for name in ("ids", "types", "mask")
        ],
        [
            helper.make_tensor_value_info("tags", TensorProto.FLOAT, ["b", "t"]),
            helper.make_tensor_value_info(output, TensorProto.FLOAT, ["b", 2]),
        ],
        [numpy_helper.from_array(array, name) for name, array in arrays.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    content: bytes = model.SerializeToString()
    return content


def write(folder: Path, *, model: bytes | None = None, tokens: Tokenizer | None = None) -> Path:
    """A folder of weights; returns it."""
    folder.mkdir(exist_ok=True)
    (folder / "model.onnx").write_bytes(onnx_model() if model is None else model)
    (folder / "tokenizer.json").write_text((tokenizer() if tokens is None else tokens).to_str())
    (folder / "decision.json").write_text('{"threshold": 0.5}\n')
    write_manifest(folder, "tiny", "1.0")
    return folder


def token_logits(ids: list[int], types: list[int]) -> NDArray[np.float32]:
    """What the model should say of each token."""
    return np.asarray(((EMBEDDING[ids] + TYPES[types]) @ TAGS)[:, 0], np.float32)


def pair_logits(ids: list[int], types: list[int]) -> NDArray[np.float32]:
    """What the model should say of a pair."""
    return np.asarray((EMBEDDING[ids] + TYPES[types]).mean(0) @ PAIR, np.float32)
