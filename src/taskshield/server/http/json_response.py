"""Answers in JSON that hold any text, be it proper Unicode or not."""

import json
from typing import Any

from starlette.responses import JSONResponse


class AsciiResponse(JSONResponse):
    """JSON in ASCII: text that is not proper Unicode can be sent, too."""

    def render(self, content: Any) -> bytes:
        """The body."""
        return json.dumps(content, allow_nan=False).encode()
