"""Baselines without training: the similarity of a request and a call.

Only their latency is measured, not how well they would guard.
"""

import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from taskshield import Level
from taskshield.adapters.traces.agentdojo_runs import RecordedRun

Vector = NDArray[np.float32]
_DIMENSIONS = 4096
_TOKENS = 256
_WORD = re.compile(r"\w+")


def pairs(runs: Sequence[RecordedRun]) -> list[tuple[str, str]]:
    """Each tool call of these runs, with the user's last message."""
    found = []
    for run in runs:
        asked = ""
        for message in run.messages:
            if message.level is Level.USER:
                asked = message.text
            found += [(asked, call.describe()) for call in message.tool_calls]
    return found


def milliseconds(embed: Callable[[str], Vector], found: Sequence[tuple[str, str]]) -> list[float]:
    """Milliseconds of each comparison. One more runs first."""
    times = []
    for first, second in [found[0], *found]:
        started = time.perf_counter()
        cosine(embed(first), embed(second))
        times.append((time.perf_counter() - started) * 1000)
    return times[1:]


def cosine(first: Vector, second: Vector) -> float:
    """The cosine. 0 if one of the vectors is zero."""
    length = float(np.linalg.norm(first) * np.linalg.norm(second))
    return float(first @ second) / length if length else 0.0


def hashed(text: str) -> Vector:
    """The words of a text, counted by hash."""
    places = [crc32(word.encode("utf-8", "replace")) for word in _WORD.findall(text.casefold())]
    counts = np.bincount(np.array(places, np.int64) % _DIMENSIONS, minlength=_DIMENSIONS)
    return counts.astype(np.float32)


def base_model(folder: Path, threads: int) -> Callable[[str], Vector]:
    """The sentence embeddings of a published model, in single precision.

    Args:
        folder: With config.json, tokenizer.json and model.safetensors. Needs the extra [train].
        threads: Threads that compute.
    """
    import onnxruntime
    from torch import nn

    from taskshield.judges.embedded.network.encoding import load_tokenizer
    from taskshield_lab.training.network.network import load_base
    from taskshield_lab.training.network.onnx_export import to_onnx

    network = load_base(folder)
    network.pair = nn.Identity()  # type: ignore[assignment]  # what goes into it is the mean
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    with TemporaryDirectory() as scratch:
        path = Path(scratch) / "base.onnx"
        to_onnx(network, path)
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    tokenizer = load_tokenizer((folder / "tokenizer.json").read_bytes())
    tokenizer.enable_truncation(_TOKENS)

    def embed(text: str) -> Vector:
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        (found,) = session.run(["pair"], {"ids": ids, "types": ids * 0, "mask": ids * 0 + 1})
        row: Vector = found[0]
        return row

    return embed
