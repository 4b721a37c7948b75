"""Splits a stream of bytes into lines, in linear time and within a limit."""

from collections.abc import Iterator

_KEPT = 8_192
"""Bytes that are kept of a line that is too long."""


class Lines:
    """The lines of one stream."""

    def __init__(self, longest: int) -> None:
        """Start with no line.

        Args:
            longest: Longest line in bytes. Of longer ones, only the first bytes are kept.
        """
        self._longest = longest
        self._pieces: list[bytes] = []
        self._length = 0

    def add(self, chunk: bytes) -> Iterator[tuple[bytes, bool]]:
        """The lines that end in this chunk, each with whether it is whole."""
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            self._keep(piece)
            line, whole = b"".join(self._pieces), self._length <= self._longest
            self._pieces, self._length = [], 0
            yield line, whole
        self._keep(rest)

    def _keep(self, piece: bytes) -> None:
        if self._length <= self._longest < self._length + len(piece):
            self._pieces = [b"".join([*self._pieces, piece])[:_KEPT]]
        elif self._length <= self._longest:
            self._pieces.append(piece)
        self._length += len(piece)
