"""Memory of a process, from /proc."""

import re
from pathlib import Path


def memory(process: int | str = "self") -> dict[str, float]:
    """Resident memory of a process and its peak, in MiB; -1 where /proc does not exist."""
    status = Path(f"/proc/{process}/status")
    text = status.read_text() if status.exists() else ""
    found = {name: re.search(rf"^{name}:\s+(\d+) kB", text, re.M) for name in ("VmRSS", "VmHWM")}
    return {
        name: -1.0 if match is None else round(int(match[1]) / 1024, 1)
        for name, match in found.items()
    }
