"""Audit logs that are small on disk and large in memory, and an audit of them in a process."""

import gzip
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any


def write_logs(folder: Path) -> None:
    """Write the logs into a folder."""
    many = b'{"messages": [' + b"{}," * 10_000_000 + b"{}]}\n"
    deep = b'{"messages": ' + b"[" * 15_000_000 + b"\n"
    text = {"role": "user", "content": "Pay, if so, Ada. " * 100_000}
    for name, content in (
        ("messages.jsonl.gz", many),
        ("brackets.jsonl.gz", deep),
        ("text.jsonl.gz", json.dumps({"messages": [text]}).encode() + b"\n"),
    ):
        (folder / name).write_bytes(gzip.compress(content, 9))


def audited(folder: Path, out: Path) -> dict[str, Any]:
    """Audit a folder: the exit status, seconds, and the most memory that one process took."""
    taskshield = Path(sys.executable).with_name("taskshield")
    began = time.perf_counter()
    process = subprocess.Popen(
        [str(taskshield), "audit", str(folder), "--out", str(out)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return {
        "exit_status": process.returncode,
        "seconds": round(time.perf_counter() - began, 1),
        "most_mib": round(used.ru_maxrss / 1024, 1),
    }
