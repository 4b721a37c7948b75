"""The shortest time that the model's arithmetic can take on this machine."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from stage_times import MODEL
from timed_checks import Check

SIDE = 1024
THREADS = 2
_TIMES = 30
_FLOAT32 = f"""
import time, numpy
a, b = (numpy.random.default_rng(n).random(({SIDE}, {SIDE}), numpy.float32) for n in (1, 2))
def once():
    started = time.perf_counter()
    a @ b
    return time.perf_counter() - started
once()
print(min(once() for _ in range({_TIMES})))
"""
"""In a process of its own: BLAS reads the number of its threads when it is loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoder:
    """The shape of a BERT encoder; the default is that of the shipped model."""

    layers: int = 6
    width: int = 384
    inner: int = 1536

    def operations(self, tokens: int) -> int:
        """Multiplications and additions of one forward pass, for matrix products only."""
        dense = 4 * self.width**2 + 2 * self.width * self.inner
        attention = 2 * 2 * tokens**2 * self.width  # with the keys, then with the values
        return self.layers * (2 * tokens * dense + attention)


def floors(checks: Iterable[Check], rates: dict[str, float]) -> dict[str, object]:
    """The time of the forward passes at these rates, beside the measured time.

    Args:
        checks: Checks of one kind. Those without a forward pass are left out.
        rates: Operations a second, by name.
    """
    with_passes = [check for check in checks if check.passes]
    if not with_passes:
        return {"checks": 0}
    work = median(sum(map(Encoder().operations, check.passes)) for check in with_passes)
    model = median(check.stages[MODEL] for check in with_passes)
    whole = median(check.ms for check in with_passes)
    least = {name: work / rate * 1000 for name, rate in rates.items()}
    return {
        "checks": len(with_passes),
        "operations": int(work),
        "measured_ms": round(whole, 2),
        "model_ms": round(model, 2),
        "floor_ms": {name: round(ms, 2) for name, ms in least.items()},
        "measured_over_floor": {name: round(whole / ms, 2) for name, ms in least.items()},
        "model_over_floor": {name: round(model / ms, 2) for name, ms in least.items()},
    }


def rates() -> dict[str, float]:
    """Operations a second with large matrices, the best of many tries."""
    return {"float32": 2 * SIDE**3 / _float32(), "int8": 2 * SIDE**3 / _int8()}


def _float32() -> float:
    threads = {f"{name}_NUM_THREADS": str(THREADS) for name in ("OMP", "OPENBLAS", "MKL")}
    ran = subprocess.run(
        [sys.executable, "-c", _FLOAT32],
        env={**os.environ, **threads},
        check=True,
        capture_output=True,
    )
    return float(ran.stdout)


def _int8() -> float:
    """Bytes times constant signed bytes, as in the shipped model."""
    random = np.random.default_rng(1)
    weights = random.integers(-64, 64, (SIDE, SIDE), np.int8)
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["a", "b"], ["c"])],
        "product",
        [helper.make_tensor_value_info("a", TensorProto.UINT8, [SIDE, SIDE])],
        [helper.make_tensor_value_info("c", TensorProto.INT32, [SIDE, SIDE])],
        [numpy_helper.from_array(weights, "b")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    given = {"a": random.integers(0, 255, (SIDE, SIDE), np.uint8)}
    return best_of(lambda: session.run(None, given))


def best_of(work: Callable[[], object]) -> float:
    """Seconds of the fastest try. One more try runs first."""
    work()
    found = []
    for _ in range(_TIMES):
        started = time.perf_counter()
        work()
        found.append(time.perf_counter() - started)
    return min(found)
