"""Which tests `make quick` runs: the fast ones, and those that the change touches.

Owns the kinds of slow tests and where they are, and finds the tests of changed modules. A kind is a
marker: `pytest -m browser` runs those tests alone, `-m "not browser"` leaves them out.
"""

import ast
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

KINDS = {
    "slow": "takes long: many examples, other processes, benchmarks, training, whole pages of docs",
    "browser": "drives a real browser",
    "server": "starts a real server: ours, Postgres, a provider, an agent's host",
    "model": "runs the embedded judge's real network",
}

PLACES = {
    "slow": (
        "adapters/azure/test_task_adherence.py",
        "adapters/proxy",
        "adapters/test_robustness.py",
        "adapters/traces/test_langsmith.py",
        "adapters/traces/test_otel_genai.py",
        "audit",
        "cli",
        "deploy",
        "docs",
        "fuzz",
        "integrations",
        "lab",
        "packaging",
        "stores/conformance",
        "stores/sql",
        "stores/test_processes.py",
        "test_docs.py",
        "test_examples_of_the_paper.py",
        "test_invariants.py",
        "test_linear.py",
        "test_matrix.py",
        "tools",
    ),
    "browser": ("dashboard",),
    "server": ("cli/doctor", "endtoend", "integrations/mcp", "server", "stores"),
    "model": ("endtoend", "judges/embedded", "test_examples_of_the_paper.py"),
}

_ROOT = Path(__file__).parent.parent
_SOURCES = (Path("src"), Path("lab/src"))


def kinds_of(test_file: str) -> set[str]:
    """The kinds of a test file, by its path below tests/."""
    return {
        kind
        for kind, places in PLACES.items()
        if any(test_file == place or test_file.startswith(f"{place}/") for place in places)
    }


def touched_tests(changed: Iterable[Path]) -> set[Path]:
    """The test files that are changed, and those that import a changed module themselves.

    Args:
        changed: Files, as paths from the root of the repository.

    Returns:
        Test files, as paths from the root of the repository.
    """
    changed = set(changed)
    modules = {name for path in changed if (name := _module(path)) is not None}
    tests = (path.relative_to(_ROOT) for path in (_ROOT / "tests").rglob("test_*.py"))
    return {
        test
        for test in tests
        if test in changed or (modules and modules & set(_imports(_ROOT / test)))
    }


def changed_files() -> set[Path]:
    """What differs from the last commit; where nothing does, what the last commit changed."""
    uncommitted = _git("diff", "--name-only", "HEAD") | _git(
        "ls-files", "--others", "--exclude-standard"
    )
    return uncommitted or _git("diff", "--name-only", "HEAD~1", "HEAD")


def _git(*words: str) -> set[Path]:
    done = subprocess.run(["git", *words], cwd=_ROOT, capture_output=True, text=True, check=True)
    return {Path(line) for line in done.stdout.splitlines()}


def _module(path: Path) -> str | None:
    """The name under which a file of the product or the lab is imported."""
    for source in _SOURCES:
        if path.suffix == ".py" and path.is_relative_to(source):
            return ".".join(path.relative_to(source).with_suffix("").parts)
    return None


def _imports(test_file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(test_file.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
