"""Lets tests import the scripts in docs/site, which import each other by name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "site"))
