"""Our lines: what is taken together, and what they are called."""

from dataclasses import replace

from taskshield_lab.bench.measure.outcomes import results
from taskshield_lab.bench.records import Header
from taskshield_lab.bench.report.entries import as_recorded, comparable, entries
from tests.lab.bench import synthetic
from tests.lab.bench.synthetic import header, run

GPT = "gpt-4o-2024-05-13"


def labels(*headers: Header) -> list[str]:
    return [entry.label for entry in entries((each, [run(goal=0)]) for each in headers)]


def test_there_is_a_line_for_each_agent_and_attack() -> None:
    runs = [
        run(),
        run(goal=1),
        run(goal=1, attack="injecagent"),
        run(agent="other", goal=2),
        run(agent="third"),
    ]
    found = entries([(header(), runs)])
    assert [entry.result for entry in found] == results(runs)
    assert [len(entry.runs) for entry in found] == [2, 2, 1, 1]
    assert all(run.agent == entry.result.agent for entry in found for run in entry.runs)


def test_files_with_equal_headers_are_one_and_no_run_counts_twice() -> None:
    once = entries([(header(), [run(task=0), run(task=1)])])
    assert entries([(header(), [run(task=0)]), (header(), [run(task=1), run(task=0)])]) == once
    assert len(entries([(header(), [run()]), (header(version="v1.2"), [run()])])) == 2


def test_labels_contain_only_what_distinguishes_entries() -> None:
    assert labels(header()) == ["embedded judge"]
    assert labels(header(judge="none"), header()) == ["no shield", "embedded judge"]
    assert labels(header(), header(version="v1.2")) == [
        "embedded judge, suites v1",
        "embedded judge, suites v1.2",
    ]
    assert labels(header(settings=""), header(settings="0123456789")) == [
        "embedded judge",
        "embedded judge, settings 01234567",
    ]


def test_defences_that_are_not_ours_are_named() -> None:
    found = entries([(header(judge="none", defence="tool_filter"), [run()])])
    assert found[0].label == "tool_filter"
    assert not found[0].guarded
    assert labels(header(defence="tool_filter")) == ["embedded judge + tool_filter"]


def test_lines_that_look_alike_are_numbered() -> None:
    one, two = header(attacks=("a",)), header(attacks=("b",))
    assert labels(one, two) == ["embedded judge", "embedded judge #2"]


def test_a_title_says_everything() -> None:
    (entry,) = entries([(header(way="replay"), [run(goal=1, agent=GPT)])])
    assert entry.title == f"embedded judge, replay, {GPT}, important_instructions, suites v1"
    assert entry.origin == f"embedded judge, replay, {GPT}"
    (clean,) = entries([(header(), [run()])])
    assert clean.title == "embedded judge, worst-case, no attack, suites v1"


def test_only_lines_of_one_model_and_attack_are_compared() -> None:
    replayed = header(way="replay", judge="none")
    found = entries(
        [
            (header(), [run(goal=0)]),
            (replayed, [run(goal=0, agent=GPT), run(goal=0, agent=f"{GPT}-tool_filter")]),
            (replayed, [run(goal=0, agent="gpt-4o-mini-2024-07-18")]),
            (header(way="replay"), [run(goal=0, agent=GPT)]),
            (header(way="replay"), [run(goal=0, agent=GPT, attack="injecagent")]),
        ]
    )
    groups = comparable(found)
    assert {title: [entry.label for entry in group] for title, group in groups.items()} == {
        "worst-case, important_instructions, suites v1": ["embedded judge"],
        f"replay, {GPT}, important_instructions, suites v1": [
            f"no shield, {GPT}",
            f"no shield, {GPT}-tool_filter",
            f"embedded judge, {GPT}",
        ],
        "replay, gpt-4o-mini-2024-07-18, important_instructions, suites v1": ["no shield"],
        f"replay, {GPT}, injecagent, suites v1": ["embedded judge"],
    }
    assert comparable([]) == {}


def test_recorded_outcomes_replace_replayed_ones() -> None:
    attacked = run(goal=1, utility=True, recorded_utility=False, recorded_hijacked=True)
    clean = run(recorded_utility=True, recorded_hijacked=True)
    assert as_recorded([attacked, clean, run(task=5)]) == [
        replace(attacked, utility=False, hijacked=True),
        replace(clean, utility=True),
    ]


def test_names_in_labels_are_safe() -> None:
    poisoned = synthetic.poisoned(header(), "\x1b[31m\u202e")
    (entry,) = entries([(poisoned, [synthetic.poisoned(run(goal=1), "\x1b[2J")])])
    for text in (entry.label, entry.title, entry.origin):
        assert "\x1b" not in text and "\u202e" not in text
