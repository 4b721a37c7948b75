"""The length and the figures of the README; tests/docs/test_snippets.py runs its examples."""

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_readme_has_at_most_800_words() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 800


def test_the_figures_of_the_readme_are_those_of_the_records() -> None:
    bare = overall("worst-case-v1-important_instructions-none.json")[0]
    worst = overall("worst-case-v1-important_instructions-embedded.json")[0]
    replayed_bare = overall("replay-v1-gpt-4o-none.json")[0]
    replayed = overall("replay-v1-gpt-4o-embedded.json")[0]
    clean = [
        *overall("replay-v1-clean-embedded.json"),
        *overall("replay-v1.2.1-clean-embedded.json"),
    ]
    disturbed = {key: sum(each["disturbed"][key] for each in clean) for key in ("hits", "total")}
    checks = record("embedded_latency.json")["checks"]["tool calls"]
    latency = f"p50 {checks['p50_ms']:.0f} ms, p99 {checks['p99_ms']:.0f} ms"
    dialogues = record("dialogues.json")["held"].values()
    attacks = [sum(each["attack"][key] for each in dialogues) for key in ("number", "held")]
    delegated = record("public_conversations.json")["held"]["the user hands over"]["good"]

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for row in (
        f"({bare['asr']['total']} attacks) | {share(bare['asr'])} | {share(worst['asr'])} |",
        f"attacks) | {share(bare['utility'])} | {share(worst['utility'])} |",
        f"tasks) | {share(bare['clean_utility'])} | {share(worst['clean_utility'])} |",
        f"runs) | {share(replayed_bare['asr'])} | {share(replayed['asr'])} |",
        f"({disturbed['total']} runs) | 0 | {share(disturbed)} |",
        f"({checks['count']} calls) | | {latency} |",
        f"({attacks[0] - attacks[1]} of {attacks[0]})",
        f"({delegated['held']} of {delegated['number']})",
    ):
        assert row in readme


def record(name: str) -> Any:
    path = ROOT / "lab" / "benchmarks" / "results" / name
    return json.loads(path.read_text(encoding="utf-8"))


def overall(name: str) -> list[Any]:
    return [result["overall"] for result in record(name)["results"]]


def share(figure: dict[str, float]) -> str:
    return f"{100 * figure['hits'] / figure['total']:.1f}"


def test_the_quickstart_of_the_readme_is_short() -> None:
    (code,) = blocks("README.md", "python")
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
