"""What the embedded judge uses of onnxruntime though onnxruntime does not publish it.

A session made from bytes keeps a copy of them for its fallback to other providers, and has no
public way to release the copy. `test_onnxruntime_internals.py` fails when a release of onnxruntime
changes this.
"""

from typing import Any


def release_model_bytes(session: Any) -> None:
    """Release the session's copy of its model file; the session must not use the fallback."""
    session._model_bytes = None
