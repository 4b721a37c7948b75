"""Bodies of providers' answers, decompressed piece by piece."""

import zlib
from collections.abc import AsyncGenerator, AsyncIterator

from taskshield.core.errors import WireFormatError

_WBITS = {"gzip": 31, "x-gzip": 31, "deflate": 47}
"""With which `zlib` undoes these encodings."""
_AT_ONCE = 2**20
"""Bytes that are decompressed in one go: a few compressed ones can become very many."""


async def decompressed(chunks: AsyncIterator[bytes], encoding: str) -> AsyncGenerator[bytes, None]:
    """The chunks without their encoding.

    Raises:
        WireFormatError: The encoding is not known, or the chunks are not in it.
    """
    if encoding in ("", "identity"):
        async for chunk in chunks:
            yield chunk
        return
    if encoding not in _WBITS:
        raise WireFormatError("it is compressed, which the request did not ask for")
    decompressor = zlib.decompressobj(_WBITS[encoding])
    try:
        async for chunk in chunks:
            yield decompressor.decompress(chunk, _AT_ONCE)
            while decompressor.unconsumed_tail:
                yield decompressor.decompress(decompressor.unconsumed_tail, _AT_ONCE)
        yield decompressor.flush(_AT_ONCE)
    except zlib.error:
        raise WireFormatError("it could not be decompressed") from None
    if not decompressor.eof or decompressor.unused_data:
        raise WireFormatError("what is compressed in it is not one whole")
