"""Limits the memory that one step may take, where a library has no limit of its own.

Linux only. Elsewhere a file that was made to take up all memory still can.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_STATUS = Path("/proc/self/status")
_DATA = re.compile(r"^VmData:\s+(\d+) kB$", re.MULTILINE)


@contextmanager
def memory_limit(more: int) -> Iterator[None]:
    """Let this block take so many bytes more than the process has; then it gets a `MemoryError`."""
    if not _STATUS.exists():
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    data = _DATA.search(_STATUS.read_text())
    assert data is not None, "Linux always says it"
    wanted = int(data[1]) * 1024 + more
    allowed = [each for each in (*before, wanted) if each != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min(allowed), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)
