"""Reads the conversation file of a command."""

import json
import sys
from pathlib import Path

from taskshield.adapters.conversations.detect import Detected, parse
from taskshield.core.errors import WireFormatError

STDIN = "-"
"""Name of the standard input."""


def read(name: str) -> Detected:
    """The conversation in this file.

    Raises:
        WireFormatError: The file holds no conversation; the message says why.
    """
    found = _parsed(name, _decoded(name, _bytes(name)))
    if not found.conversation.messages:
        raise WireFormatError(f"{name}: The conversation has no messages.")
    return found


def _bytes(name: str) -> bytes:
    try:
        if name != STDIN:
            return Path(name).read_bytes()
        # Python starts without a standard input where its file descriptor is closed.
        return b"" if sys.stdin is None else sys.stdin.buffer.read()
    except OSError as error:
        raise WireFormatError(f"{name}: {error.strerror}.") from None


def _decoded(name: str, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise WireFormatError(f"{name}: The file is not UTF-8 text (byte {error.start}).") from None


def _parsed(name: str, text: str) -> Detected:
    try:
        payload = json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise WireFormatError(f"{name}: The file is not JSON ({place}: {error.msg}).") from None
    except (ValueError, RecursionError):  # a number of absurd length, endless brackets
        raise WireFormatError(
            f"{name}: The JSON is nested too deeply, or a number in it is too long."
        ) from None
    try:
        return parse(payload)
    except WireFormatError as error:
        raise WireFormatError(f"{name}: {error}") from None
