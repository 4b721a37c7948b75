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

DAMAGE = (OSError, EOFError, zlib.error)
"""Raised if a file cannot be read completely."""
_XZ_MEMORY = 256 * 1024 * 1024
"""Most memory that a file may ask for to be decompressed. `xz -9` needs a quarter."""
_CHUNK = 64 * 1024


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
            data = stack.enter_context(io.BufferedReader(_Xz(file)))
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


class _Xz(io.RawIOBase):
    """A decompressing stream with bounded memory that raises OSError for damaged data.

    `LZMAFile` has no bound: a small file can ask for gigabytes.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._inner = _xz_decompressor()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        data = b""
        while not data:
            if self._inner.eof:  # a file may hold several streams, with zeros between them
                left = (self._inner.unused_data or self._file.read(_CHUNK)).lstrip(b"\0")
                if not left and not (left := self._next_stream()):
                    return 0
                self._inner = _xz_decompressor()
            else:
                left = self._file.read(_CHUNK) if self._inner.needs_input else b""
                if not left and self._inner.needs_input:
                    raise EOFError
            try:
                data = self._inner.decompress(left, len(buffer))
            except lzma.LZMAError:
                raise OSError("damaged, or needs too much memory") from None
        buffer[: len(data)] = data
        return len(data)

    def _next_stream(self) -> bytes:
        """What follows zeros, up to the end of a chunk; nothing at the end of the file."""
        while chunk := self._file.read(_CHUNK):
            if left := chunk.lstrip(b"\0"):
                return left
        return b""


def _xz_decompressor() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(memlimit=_XZ_MEMORY)


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
