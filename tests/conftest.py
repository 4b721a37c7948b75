"""House rules for all tests: no network but loopback, no settings from outside, no deadlines."""

import os
import signal
import socket
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from taskshield.settings import PREFIX

# How fast a test runs says how busy the machine is.
settings.register_profile(
    "house",
    deadline=None,
    max_examples=50,  # CI has twenty minutes
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("house")

# Tests that a shell starts in the background would ignore Ctrl-C, which some of them are about.
signal.signal(signal.SIGINT, signal.default_int_handler)

_LOCAL = ("127.0.0.1", "::1", "localhost")
_SLOW = ("test_real_llm.py", "test_cluster.py", "test_replicas.py", "test_live_llm.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes minutes begins first, or all wait for it at the end."""
    items.sort(key=lambda item: item.path.name not in _SLOW)


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
