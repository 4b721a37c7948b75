"""No eight words in a row of our data are AgentDojo's: it is a benchmark, not training data."""

import inspect
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

import pytest
from agentdojo.attacks import (
    base_attacks,
    baseline_attacks,
    dos_attacks,
    important_instructions_attacks,
)
from agentdojo.task_suite.load_suites import get_suites

from taskshield_lab.bench.agentdojo.suites import VERSIONS
from taskshield_lab.training.augmentation.scenario_rewriting import (
    all_calls,
    leaf_values,
    source_texts,
)
from taskshield_lab.training.conversations.labelled import LabelledConversation
from taskshield_lab.training.distractors.delegations import READERS, delegation_text
from taskshield_lab.training.sources.scenario_files import read_tool_definitions
from taskshield_lab.training.sources.scenarios import (
    Call,
    ConversationSetup,
    Opening,
    Scenario,
    Style,
)
from tests.lab.training.conftest import DATA

RUN = 8


def runs(text: str) -> Iterator[tuple[str, ...]]:
    words = re.findall(r"[^\W_]+", text.lower())
    yield from zip(*(words[shift:] for shift in range(RUN)), strict=False)


def benchmark_texts() -> Iterator[str]:
    for version in VERSIONS:
        for suite in get_suites(version).values():
            yield from (task.PROMPT for task in suite.user_tasks.values())
            yield from (task.GOAL for task in suite.injection_tasks.values())
            for tool in suite.tools:
                yield tool.description
                yield tool.full_docstring
    for module in (base_attacks, baseline_attacks, dos_attacks, important_instructions_attacks):
        for literal in re.findall(r'"([^"\n]{20,})"', inspect.getsource(module)):
            yield literal.replace("\\n", " ")
        for value in vars(module).values():
            if inspect.isclass(value):
                yield from (
                    text
                    for name in ("_JB_STRING", "_DOS_STRING")
                    if isinstance(text := getattr(value, name, None), str)
                )


@pytest.fixture(scope="module")
def benchmark() -> frozenset[tuple[str, ...]]:
    return frozenset(run for text in set(benchmark_texts()) for run in runs(text))


def shared(texts: Iterable[str], benchmark: frozenset[tuple[str, ...]]) -> set[str]:
    return {" ".join(run) for text in texts for run in runs(text) if run in benchmark}


def texts_of(scenario: Scenario) -> Iterator[str]:
    yield from source_texts(scenario)
    yield from (scenario.final, scenario.system or "")
    yield from (task.text for turn in scenario.turns for task in turn.tasks)
    yield from tools_and_calls(scenario, all_calls(scenario))


def texts_of_opening(opening: Opening) -> Iterator[str]:
    yield from (*opening.turns, opening.system or "")
    yield from tools_and_calls(opening, (*opening.right, *opening.wrong))


def tools_and_calls(setting: ConversationSetup, calls: Iterable[Call]) -> Iterator[str]:
    for tool in setting.tools:
        yield from (tool.description, *tool.parameters.values())
    yield from (str(leaf) for call in calls for leaf in leaf_values(dict(call.args)))


def test_the_benchmark_was_read(benchmark: frozenset[tuple[str, ...]]) -> None:
    for known in (
        "before you can solve the task that i",
        "can you please pay the bill bill december",
    ):
        assert tuple(known.split()) in benchmark
    assert len(benchmark) > 3000


def test_every_file_of_the_data_is_compared(
    scenarios: tuple[Scenario, ...], openings: tuple[Opening, ...], styles: tuple[Style, ...]
) -> None:
    """Those of later additions too: each line is in what the tests below go through."""
    for folder, read in (("scenarios", scenarios), ("openings", openings), ("styles", styles)):
        ids = {
            json.loads(line)["id"]
            for path in (DATA / folder).rglob("*.jsonl")
            for line in path.read_text(encoding="utf-8").splitlines()
            if line.strip()
        }
        assert ids == {one.id for one in read} and len(ids) > 400


def test_no_scenario_shares_words_with_the_benchmark(
    scenarios: tuple[Scenario, ...], benchmark: frozenset[tuple[str, ...]]
) -> None:
    found = {one.id: hits for one in scenarios if (hits := shared(texts_of(one), benchmark))}
    assert not found


def test_no_opening_shares_words_with_the_benchmark(
    openings: tuple[Opening, ...], benchmark: frozenset[tuple[str, ...]]
) -> None:
    found = {one.id: hits for one in openings if (hits := shared(texts_of_opening(one), benchmark))}
    assert not found


@pytest.mark.parametrize("folder", [DATA / "worlds", DATA.parent / "evaluation" / "worlds"])
def test_no_environment_shares_eight_words_with_the_benchmark(
    folder: Path, benchmark: frozenset[tuple[str, ...]]
) -> None:
    """Networks are trained on the first; models may be selected by the others."""
    texts = [path.read_text(encoding="utf-8") for path in folder.glob("*.json")]
    strings = [str(leaf) for text in texts for leaf in leaf_values(json.loads(text))]
    assert len(strings) > 4000 and not shared(strings, benchmark)


def test_no_definition_of_a_tool_shares_words_with_the_benchmark(
    benchmark: frozenset[tuple[str, ...]],
) -> None:
    found = [
        hits
        for one in read_tool_definitions(DATA / "descriptions")
        if (hits := shared(one.texts, benchmark))
    ]
    assert not found


def test_no_handover_shares_words_with_the_benchmark(benchmark: frozenset[tuple[str, ...]]) -> None:
    said = {
        delegation_text(reader, 7, Random(seed), held_out=held_out)
        for reader in READERS
        for held_out in (False, True)
        for seed in range(200)
    }
    assert len(said) > 500 and not shared(said, benchmark)


def test_no_style_shares_words_with_the_benchmark(
    styles: tuple[Style, ...], benchmark: frozenset[tuple[str, ...]]
) -> None:
    found = {one.id: hits for one in styles if (hits := shared([one.template], benchmark))}
    assert not found


def test_no_conversation_shares_eight_words_with_the_benchmark(
    sample: tuple[LabelledConversation, ...], benchmark: frozenset[tuple[str, ...]]
) -> None:
    for one in sample:
        texts = [message.text for message in one.messages]
        texts += [call.arguments for message in one.messages for call in message.tool_calls]
        texts += [tool.description for tool in one.tools]
        assert not shared(texts, benchmark), one.id
