import sys
from pathlib import Path

import pytest

from taskshield.audit.logs import memory_limit as module
from taskshield.audit.logs.memory_limit import memory_limit


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits memory")
def test_a_step_gets_no_more_than_its_memory() -> None:
    with memory_limit(64 * 1024 * 1024), pytest.raises(MemoryError):
        bytes(512 * 1024 * 1024)
    assert len(bytes(128 * 1024 * 1024)) > 0


def test_elsewhere_there_is_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_STATUS", Path("/nowhere"))
    with memory_limit(1024):
        assert len(bytes(1024 * 1024)) > 0
