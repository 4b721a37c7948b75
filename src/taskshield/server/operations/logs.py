"""Structured logs: one JSON object a line, without conversation text and without secrets.

Only fields that the server itself names are logged. Of an exception these are its type and where
it was raised: its message may quote a conversation. So may the messages of libraries, of which only
the first line of the pattern is logged.
"""

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from types import TracebackType

from taskshield.core.errors import StoreError

LOG = logging.getLogger("taskshield.server")

_FRAMES = 12
_TRUSTED = ("taskshield", "uvicorn")
"""Loggers whose messages never contain data of a request."""


class JsonLines(logging.Formatter):
    """Formats log records as JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Format one line."""
        fields: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": _event(record),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            fields["error"] = type(error).__name__
            if isinstance(error, StoreError) and error.state is not None:
                fields["reason"] = str(error)
            fields["raised_at"] = _frames(record.exc_info[2])
        return json.dumps(fields)


def configure() -> None:
    """Send logs to standard error: ours, those of uvicorn, and warnings of other libraries."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in _TRUSTED:
        logging.getLogger(name).setLevel(logging.INFO)


def log(
    event: str, *, level: int = logging.INFO, error: Exception | None = None, **fields: object
) -> None:
    """Log one line.

    Args:
        event: What happened; a fixed text.
        level: Its level.
        error: The exception, where there is one.
        **fields: Details; never conversation text.
    """
    LOG.log(level, event, exc_info=error, extra={"fields": fields})


def _event(record: logging.LogRecord) -> str:
    if record.name.partition(".")[0] in _TRUSTED:
        return record.getMessage()
    return str(record.msg).partition("\n")[0]


def _frames(trace: TracebackType | None) -> list[str]:
    return [
        f"{frame.filename.rpartition('taskshield/')[2]}:{frame.lineno} {frame.name}"
        for frame in traceback.extract_tb(trace)[-_FRAMES:]
    ]
