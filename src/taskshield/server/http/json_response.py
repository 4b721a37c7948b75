"""JSON responses that can hold any text, valid Unicode or not."""

import json
from typing import Any

from starlette.responses import JSONResponse


class AsciiResponse(JSONResponse):
    """JSON in ASCII, in which text that is not valid Unicode can be sent as well."""

    def render(self, content: Any) -> bytes:
        """Serialize the body."""
        return json.dumps(content, allow_nan=False).encode()
