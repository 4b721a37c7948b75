"""Reads plain files and files compressed with gzip, xz or Zstandard."""

import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import IO, Any

from taskshield.core.errors import MissingExtraError

DAMAGE = (OSError, EOFError, lzma.LZMAError, zlib.error)
"""Raised if a file cannot be read completely."""


@dataclass(frozen=True, slots=True)
class Source:
    """An open file."""

    data: IO[bytes]
    """Its decompressed contents."""
    _file: IO[bytes]

    @property
    def read(self) -> int:
        """Bytes of the file that have been read."""
        return self._file.tell()


@contextmanager
def opened(path: str) -> Iterator[Source]:
    """Open a file for reading.

    Raises:
        MissingExtraError: Its compression needs an optional package.
        OSError: It cannot be opened.
    """
    with ExitStack() as stack:
        file = stack.enter_context(open(path, "rb"))
        data: Any = file
        if path.endswith(".gz"):
            data = stack.enter_context(gzip.GzipFile(fileobj=file))
        elif path.endswith(".xz"):
            data = stack.enter_context(lzma.LZMAFile(file))
        elif path.endswith(".zst"):
            data = stack.enter_context(io.BufferedReader(_Zstandard(file)))
        yield Source(data, file)


def unzstd(data: bytes, most: int) -> bytes:
    """Decompress data, up to a limit.

    Raises:
        OSError: It is damaged.
        MissingExtraError: The package is not installed.
    """
    with io.BufferedReader(_Zstandard(io.BytesIO(data))) as reader:
        return reader.read(most)


class _Zstandard(io.RawIOBase):
    """A decompressing stream that raises OSError for damaged data."""

    def __init__(self, file: IO[bytes]) -> None:
        try:
            import zstandard
        except ImportError:
            raise MissingExtraError("zstandard", "audit") from None
        self._error = zstandard.ZstdError
        self._inner = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        try:
            data = self._inner.read(len(buffer))
        except self._error:
            raise OSError("damaged") from None
        buffer[: len(data)] = data
        return len(data)
