"""What the pages about audits, benchmarks, training and the documentation's site promise."""

import json
import tarfile
from pathlib import Path

import zstandard

from tests.audit.log_files import clean, hijacked, lines
from tests.lab.training import few_scenarios, tiny_base
from tests.packaging.environments import Environment

_READ = "import sys, pyarrow.parquet as p; print(p.read_table(sys.argv[1]).num_rows)"


def audit(made: Environment, folder: Path) -> None:
    """`taskshield audit` finds the hijacked conversation of a compressed log."""
    _audited(made, folder)


def audit_on_ray(made: Environment, folder: Path) -> None:
    """The same on a Ray cluster of one machine."""
    _audited(made, folder, "--ray", "local", "--workers", "1")


def attacks(made: Environment, folder: Path) -> None:
    """`taskshield bench` lists its attacks."""
    shown = made.run("taskshield", "bench", "attacks", cwd=folder).stdout
    assert "important_instructions" in shown


def bench(made: Environment, folder: Path) -> None:
    """`taskshield bench` runs a task of AgentDojo with and without an attack."""
    task = ("--suite", "banking", "--user-task", "user_task_0", "--injection-task")
    words = ("--judge", "embedded", *task, "injection_task_0", "--workers", "1", "--out", "records")
    shown = made.run("taskshield", "bench", "worst-case", *words, cwd=folder).stdout
    assert "banking" in shown
    (figures,) = (folder / "records").glob("*.json")
    assert json.loads(figures.read_text())


def train(made: Environment, folder: Path) -> None:
    """`taskshield train` makes a model, of a small base and few data."""
    base = tiny_base.write(folder / "base")
    data = few_scenarios.write(folder / "lab" / "data")
    few = ("--fold", "0", "--networks", "1", "--train-per-scenario", "1", "--epochs", "0.1")
    words = ("--base", base, "--data", data, "--out", folder / "out", *few, "--train-only")
    made.run("taskshield", "train", *map(str, words), cwd=folder)
    assert (folder / "out" / "network.safetensors").exists()


def site(made: Environment, folder: Path) -> None:
    """The documentation's site can be built from the sdist."""
    with tarfile.open(made.wheels.sdist) as file:
        file.extractall(folder, filter="data")
    (unpacked,) = folder.iterdir()
    built = folder / "site"
    words = ("build", "--quiet", "--strict", "--site-dir", str(built))
    made.run("mkdocs", *words, cwd=unpacked, NO_MKDOCS_2_WARNING="1")
    assert (built / "quickstart.html").exists()


def _audited(made: Environment, folder: Path, *options: str) -> None:
    log = folder / "logs" / "a.jsonl.zst"
    log.parent.mkdir()
    log.write_bytes(zstandard.compress(lines(hijacked(), clean())))
    done = made.run(
        "taskshield", "audit", "logs", "--out", "results", *options, cwd=folder, check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr
    found = folder / "results" / "findings.parquet"
    assert int(made.run("python", "-c", _READ, str(found), cwd=folder).stdout) > 0
