"""Reading the conversation that a command is given."""

import json
import sys
from pathlib import Path

from taskshield.adapters.conversations.detect import Detected, parse
from taskshield.core.errors import WireFormatError

STDIN = "-"
"""Stands for the standard input in place of a file's name."""


def read(name: str) -> Detected:
    """The conversation in this file.

    Raises:
        WireFormatError: There is no conversation to be read there; the message says why.
    """
    found = _parsed(name, _decoded(name, _bytes(name)))
    if not found.conversation.messages:
        raise WireFormatError(f"{name}: there are no messages in it")
    return found


def _bytes(name: str) -> bytes:
    try:
        if name != STDIN:
            return Path(name).read_bytes()
        # Python starts without a standard input where its file descriptor is closed.
        return b"" if sys.stdin is None else sys.stdin.buffer.read()
    except OSError as error:
        raise WireFormatError(f"{name}: {error.strerror}") from None


def _decoded(name: str, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise WireFormatError(f"{name}: not UTF-8 (byte {error.start})") from None


def _parsed(name: str, text: str) -> Detected:
    try:
        payload = json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise WireFormatError(f"{name}: not JSON ({place}: {error.msg})") from None
    except (ValueError, RecursionError):  # a number of absurd length, endless brackets
        raise WireFormatError(f"{name}: not JSON that can be read") from None
    try:
        return parse(payload)
    except WireFormatError as error:
        raise WireFormatError(f"{name}: {error}") from None
