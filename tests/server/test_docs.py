"""The docs on deployment and monitoring match the code."""

import configparser
import re
from pathlib import Path

import pytest

from taskshield.core.errors import JudgeUnavailable
from taskshield.server.operations.metrics import Metrics
from taskshield.settings import load
from taskshield.wiring import build_judge
from tests.judging import TableJudge
from tests.server.stage import HIJACKED, served, wire
from tests.test_docs import ROOT, blocks

OBSERVABILITY = (ROOT / "docs" / "observability.md").read_text()


@pytest.mark.parametrize("text", blocks("docs/deployment.md", "yaml"))
def test_the_settings_files_are_settings(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "shield.yaml"
    file.write_text(text)
    monkeypatch.setenv("TASKSHIELD_API_KEY", "sk-test")
    settings = load({}, config=file)
    assert settings.server.host == "0.0.0.0"
    build_judge(settings)


def test_the_unit_waits_longer_than_the_server_takes_to_stop() -> None:
    (text,) = blocks("docs/deployment.md", "ini")
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.read_string(text)
    assert unit.getint("Service", "TimeoutStopSec") > load({}, environment={}).server.shutdown_s


def test_the_documented_metrics_are_the_existing_ones() -> None:
    metrics = Metrics()
    metrics.show_sizes(lambda: {"sessions": 1})
    kinds = r"# TYPE (taskshield_\w+) (?:counter|histogram|gauge)"
    there = {name for name in re.findall(kinds, page(metrics)) if not name.endswith("_created")}
    listed = re.findall(r"^\| `(taskshield_\w+)` \|", OBSERVABILITY, re.MULTILINE)
    assert sorted(listed) == sorted(there)
    queried = set(re.findall(r"taskshield_\w+", "".join(blocks("docs/observability.md", "promql"))))
    assert {name.removesuffix("_bucket") for name in queried} <= there


def test_the_labels_of_documented_queries_exist() -> None:
    with served() as client:
        client.post("/api/sessions", json={"id": "s"})
        said = {"messages": wire(*HIJACKED.messages)}
        client.post("/api/sessions/s/messages", json=said).raise_for_status()
        told = client.get("/metrics").text
    with served(by=TableJudge(error=JudgeUnavailable("gone"))) as client:
        client.post("/api/sessions", json={"id": "s"})
        client.post("/api/sessions/s/messages", json=said).raise_for_status()
        told += client.get("/metrics").text
    for label in ('check="executed"', 'check="failed"', 'surface="native"', 'tier="financial"'):
        assert label in told


def page(metrics: Metrics) -> str:
    return metrics.render().decode()
