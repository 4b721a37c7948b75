"""House rules for all tests: no network but loopback, no settings from outside, no deadlines."""

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from httpx._config import DEFAULT_TIMEOUT_CONFIG
from hypothesis import HealthCheck, settings

from taskshield.settings import PREFIX

_TESTS = Path(__file__).parent

# How fast a test runs says how busy the machine is.
settings.register_profile(
    "house",
    deadline=None,
    max_examples=50,  # CI has twenty minutes
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("house")
# Five seconds, httpx's own, say how busy the machine is, too.
for step in ("connect", "read", "write", "pool"):
    setattr(DEFAULT_TIMEOUT_CONFIG, step, 60.0)

# Tests that a shell starts in the background would ignore Ctrl-C, which some of them are about.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Every client and every server reads whom it would trust, and no test needs any of them. To read
# all that browsers trust took a third of the time of the server's tests.
os.environ["SSL_CERT_FILE"] = str(_TESTS / "nobody.pem")

_LOCAL = ("127.0.0.1", "::1", "localhost")
_SLOW = ("test_real_llm.py", "test_cluster.py", "test_replicas.py", "test_live_llm.py")
_UNTRACED = (
    *(
        "lab/benchmarks",
        "docs",
        "endtoend",
        "dashboard",
        "lab/bench/attacks",
        "lab/bench/agentdojo/test_suites.py",
    ),
    *("lab/bench/run/test_workers.py", "lab/bench/run/test_worst_case.py", "test_invariants.py"),
    *("test_matrix.py", "server/test_fuzz.py", "server/test_process.py", "adapters/proxy"),
    *("adapters/test_robustness.py", "lab/bench/agentdojo/test_docs.py", "stores/conformance"),
    *(
        "stores/test_processes.py",
        "lab/training/conversations/test_corpus.py",
        "lab/training/examples/test_examples.py",
    ),
    *(
        "lab/training/test_overlap.py",
        "lab/training/test_shipped_course.py",
        "lab/training/sources/test_splits.py",
    ),
    "lab/training/augmentation/test_scenario_variation.py",
)
"""Long work that coverage does not follow, which takes two thirds as long again: hardly a line is
reached by these alone."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes minutes begins first, or all wait for it at the end."""
    items.sort(key=lambda item: item.path.name not in _SLOW)
    for item in items:
        path = item.path.relative_to(_TESTS).as_posix()
        if path.startswith(_UNTRACED):
            item.add_marker("no_cover")


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        if isinstance(address, tuple) and address[0] not in _LOCAL:
            raise OSError(f"tests may not connect to {address[0]}")
        connect(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:

    for name in list(os.environ):
        if name.startswith(PREFIX) or name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
            monkeypatch.delenv(name)
    yield
