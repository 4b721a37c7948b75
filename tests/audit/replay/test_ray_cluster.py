"""The audit on Ray: a real cluster, though a small one, begun once."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from taskshield.audit.logs.input_files import find
from taskshield.audit.replay.checker import Plan
from taskshield.core.errors import MissingExtraError, TaskShieldError
from tests.audit.log_files import clean, hijacked, write

COMMAND = "import sys; from taskshield.cli.main import main; sys.exit(main(sys.argv[1:]))"
FILES = ("findings.jsonl", "findings.parquet", "journal.jsonl", "report.md", "summary.json")


def command(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", COMMAND, "audit", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_a_cluster_gives_the_same_files_as_a_process(tmp_path: Path) -> None:
    mixed = [hijacked(number) if number % 3 else clean(number) for number in range(12)]
    write(tmp_path / "logs" / "a.jsonl", *mixed[:7], {"no": "log"})
    write(tmp_path / "logs" / "b.jsonl", *mixed[7:])
    given = (tmp_path / "logs", "--judge", "block-side-effects", "--no-color")
    alone = command(*given, "--out", tmp_path / "alone")
    many = command(*given, "--out", tmp_path / "many", "--ray", "local", "--workers", 2)
    assert (alone.returncode, many.returncode) == (1, 1), many.stderr
    for name in FILES:
        assert (tmp_path / "many" / name).read_bytes() == (tmp_path / "alone" / name).read_bytes()
    assert many.stdout == alone.stdout.replace("/alone.", "/many.")


def test_a_cluster_that_does_not_answer_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ray

    from taskshield.audit.replay import ray_cluster

    def refused(**given: object) -> None:
        raise ConnectionError("head node 10.1.2.3 is not there")

    monkeypatch.setattr(ray, "init", refused)
    files = find([str(write(tmp_path / "a.jsonl", clean(1)))], besides=tmp_path / "out")
    with pytest.raises(
        TaskShieldError, match=r"^--ray: No Ray cluster answers at this address \(Connection"
    ):
        list(ray_cluster.check_all([(files[0], 0)], Plan(), address="10.1.2.3:6379", actors=None))
    assert list(ray_cluster.check_all([], Plan(), address="10.1.2.3:6379", actors=None)) == []


def test_the_first_ctrl_c_waits_for_a_row_and_the_second_does_not() -> None:
    from taskshield.audit.replay.ray_cluster import _interrupts_noted

    with pytest.raises(KeyboardInterrupt), _interrupts_noted() as interrupted:
        signal.raise_signal(signal.SIGINT)
        assert interrupted.is_set()
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "taskshield.audit.replay.ray_cluster", raising=False)
    with pytest.raises(MissingExtraError, match=r"taskshield\[ray\]"):
        import taskshield.audit.replay.ray_cluster  # noqa: F401


def test_nothing_imports_ray_unless_it_is_asked_for(tmp_path: Path) -> None:
    write(tmp_path / "logs" / "a.jsonl", clean(1))
    words = ["audit", str(tmp_path / "logs"), "--judge", "allow-all", "--out", str(tmp_path / "o")]
    code = f"import sys; from taskshield.cli.main import main; main({words!r})"
    code += "; sys.exit('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0
