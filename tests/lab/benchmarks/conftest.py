"""Scripts import the modules beside them by name, as they do when they are run."""

import sys
from pathlib import Path

_BENCHMARKS = Path(__file__).parents[3] / "lab" / "benchmarks"
_FOLDERS = (".", "quality", "speed", "llm", "server")
sys.path[:0] = [str(_BENCHMARKS / folder) for folder in _FOLDERS]
