"""What makes the site's pages are scripts that find each other by name, as when they are run."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "site"))
