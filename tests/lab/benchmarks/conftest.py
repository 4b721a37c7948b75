"""Benchmarks are scripts that find each other by name, as they do when they are run."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "lab" / "benchmarks"))
