"""What `onnxruntime_internals` relies on. A failure means that onnxruntime has changed it."""

from pathlib import Path

import onnxruntime

from taskshield.judges.embedded.network.onnxruntime_internals import release_model_bytes
from tests.judges.embedded import tiny_model


def test_a_session_from_bytes_keeps_them_until_they_are_released(tmp_path: Path) -> None:
    model = (tiny_model.write(tmp_path) / "model.onnx").read_bytes()
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    assert session._model_bytes == model
    release_model_bytes(session)
    assert session._model_bytes is None
    assert session.get_inputs()
