"""How the segments of an output share the model's windows."""

from collections.abc import Sequence


def windows(sizes: Sequence[int], room: int) -> list[range]:
    """Pieces of these sizes, by number, in windows of at most `room`.

    Each window but the first begins with the last piece of the one before, so that no piece is read
    without what stands before it. A piece that is too large for any window has one of its own.
    """
    found: list[range] = []
    start, filled = 0, 0
    for number, size in enumerate(sizes):
        if number > start and filled + size > room:
            found.append(range(start, number))
            before = sizes[number - 1]
            start, filled = (number - 1, before) if before + size <= room else (number, 0)
        filled += size
    if start < len(sizes):
        found.append(range(start, len(sizes)))
    return found
