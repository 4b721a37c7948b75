"""The benchmark figures in the package."""

import runpy

from taskshield.server.routes.api.benchmarks import read_figures
from taskshield.stores.memory import MemoryStore
from tests.engine.sessions import run
from tests.server.stage import keyed, served
from tests.test_docs import ROOT


def test_the_shipped_figures_are_those_of_the_results() -> None:
    """Otherwise run `python lab/benchmarks/dashboard_figures.py`."""
    command = runpy.run_path(str(ROOT / "lab" / "benchmarks" / "dashboard_figures.py"))
    same = command["SHIPPED"].read_text() == command["text"]()
    assert same  # the texts themselves are too long to be shown


def test_the_figures_are_served_and_small() -> None:
    store = MemoryStore()
    with served(store, key=run(keyed(store, "approve"))) as client:
        answer = client.get("/api/benchmarks")
    assert answer.status_code == 200 and len(answer.content) < 200_000
    found = answer.json()
    exams = {exam["name"]: exam for exam in found["exams"]}
    exam = exams["worst-case-v1-important_instructions-embedded"]
    assert (exam["way"], exam["judge"]) == ("worst-case", "embedded")
    (row,) = exam["results"]
    assert row["asr"]["low"] <= row["asr"]["value"] <= row["asr"]["high"]
    assert {each["name"] for each in found["latency"]["checks"]} >= {"tool calls", "tool output"}
    assert read_figures() is read_figures()
