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
from tests.packaging import table
from tests.packaging.wheels import CERTIFICATES, Wheels, build_once
from tests.selection import KINDS, changed_files, kinds_of, touched_tests

_TESTS = Path(__file__).parent
_TOUCHED = pytest.StashKey[set[Path]]()

# How fast a test runs says how busy the machine is.
settings.register_profile(
    "house",
    deadline=None,
    max_examples=50,  # CI has twenty minutes
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.register_profile("quick", settings.get_profile("house"), max_examples=10)
settings.load_profile("house")
# Five seconds, httpx's own, say how busy the machine is, too.
for step in ("connect", "read", "write", "pool"):
    setattr(DEFAULT_TIMEOUT_CONFIG, step, 60.0)

# Tests that a shell starts in the background would ignore Ctrl-C, which some of them are about.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Every client and every server reads whom it would trust, and no test needs any of them. To read
# all that browsers trust took a third of the time of the server's tests.
# uv, which installs packages, gets them back.
os.environ.setdefault(CERTIFICATES, os.environ.get("SSL_CERT_FILE", ""))
os.environ["SSL_CERT_FILE"] = str(_TESTS / "nobody.pem")

_LOCAL = ("127.0.0.1", "::1", "localhost")
_LONGEST = ("test_real_llm.py", "test_ray_cluster.py", "test_replicas.py", "test_live_llm.py")
_NOT_COVERED = (
    "adapters/proxy",
    "adapters/test_robustness.py",
    "dashboard",
    "deploy",
    "docs",
    "endtoend",
    "fuzz",
    "lab/bench/agentdojo/test_docs.py",
    "lab/bench/agentdojo/test_suites.py",
    "lab/bench/attacks",
    "lab/bench/run/test_worst_case.py",
    "lab/bench/run/test_workers.py",
    "lab/benchmarks",
    "lab/training/augmentation/test_scenario_variation.py",
    "lab/training/conversations/test_corpus.py",
    "lab/training/examples/test_examples.py",
    "lab/training/sources/test_splits.py",
    "lab/training/test_overlap.py",
    "lab/training/test_shipped_model.py",
    "packaging",
    "server/test_fuzz.py",
    "server/test_process.py",
    "stores/conformance",
    "stores/test_processes.py",
    "test_invariants.py",
    "test_matrix.py",
    "tools/release",
)
"""Long tests that coverage does not follow: it would take them two thirds longer, and they reach
hardly a line that other tests do not."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of `make quick`."""
    parser.addoption(
        "--quick",
        action="store_true",
        help="only fast tests and those of changed modules, with few generated examples",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the kinds of tests, and find the tests of changed modules."""
    for kind, what in KINDS.items():
        config.addinivalue_line("markers", f"{kind}: {what}")
    if config.getoption("--quick"):
        settings.load_profile("quick")
        config.stash[_TOUCHED] = touched_tests(changed_files())


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what `make quick` does not run before it is imported."""
    if not config.getoption("--quick") or not collection_path.name.startswith("test_"):
        return None
    kinds = kinds_of(collection_path.relative_to(_TESTS).as_posix())
    if collection_path.relative_to(_TESTS.parent) in config.stash[_TOUCHED]:
        kinds -= {"server", "model"}  # these take seconds where the others take minutes
    return True if kinds else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the longest tests, or all wait for them at the end; mark each kind."""
    if config.getoption("--quick"):
        items[:] = [item for item in items if item.get_closest_marker("slow") is None]
    items.sort(key=lambda item: item.path.name not in _LONGEST)
    for item in items:
        path = item.path.relative_to(_TESTS).as_posix()
        for kind in kinds_of(path):
            item.add_marker(kind)
        if path.startswith(_NOT_COVERED):
            item.add_marker("no_cover")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show what ran: extras on Pythons, snippets of pages, hostile inputs."""
    reports = [each for found in terminalreporter.stats.values() for each in found]
    written = list(table.lines(reports))
    if written:
        terminalreporter.section("extras x Pythons, from wheels")
        for line in written:
            terminalreporter.write_line(line)
    inputs = [
        (report.nodeid.partition("[")[2].removesuffix("]"), told)
        for report in terminalreporter.stats.get("passed", [])
        for name, told in report.user_properties
        if name == "hostile inputs"
    ]
    if inputs:
        terminalreporter.section("hostile inputs, each answered or refused cleanly")
        for target, count in inputs:
            terminalreporter.write_line(f"{count:>8} {target}")
    for report in terminalreporter.stats.get("passed", []):
        for name, told in report.user_properties:
            if name == "told":
                terminalreporter.section("snippets of the documentation, from the wheel")
                terminalreporter.write_line(told)


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


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Wheels:
    """What a release consists of; tests/packaging/environments.py installs it."""
    return build_once(tmp_path_factory)
