"""Write the OpenAPI document that the page's types are made from: `write_openapi.py FILE`."""

import json
import sys
from pathlib import Path

from taskshield.server.app import create_app
from taskshield.settings import Settings


def main(path: Path) -> None:
    """Write what the server answers at /api/openapi.json, without starting it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    app = create_app(Settings(judge="allow-all"))
    path.write_text(json.dumps(app.openapi(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
