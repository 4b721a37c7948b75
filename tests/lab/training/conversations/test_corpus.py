import re
from collections import Counter
from random import Random

from taskshield.core.levels import Level
from taskshield_lab.training.conversations.corpus import generate_conversations
from taskshield_lab.training.conversations.from_scenarios import play_scenario
from taskshield_lab.training.conversations.labelled import LabelledConversation
from taskshield_lab.training.conversations.padding import NoiseMaterial
from taskshield_lab.training.conversations.plans import (
    Injection,
    Plan,
    hostile_calls,
    is_in_aligned_run,
)
from taskshield_lab.training.sources.scenarios import INJECTION_SLOT, Scenario, Style

Sample = tuple[LabelledConversation, ...]
Scenarios = tuple[Scenario, ...]
Styles = tuple[Style, ...]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def test_every_call_has_a_label_and_every_output_its_call(sample: Sample) -> None:
    for one in sample:
        made = [call for message in one.messages for call in message.tool_calls]
        assert [call.id for call in made] == list(one.calls)
        answers = [message.answers for message in one.messages if message.level is Level.TOOL]
        assert sorted(map(str, answers)) == sorted(one.calls)
        for call in made:
            label = one.calls[call.id]
            assert label.tier is one.tiers[call.name] and call.parse_arguments() is not None
            assert label.aligned == (label.kind in ("step", "also_fine"))
            assert (label.kind == "attack") == (label.attack_kind is not None)
        assert {tool.name for tool in one.tools} == set(one.tiers)


def test_every_attack_call_comes_after_the_words_that_ask_for_it(sample: Sample) -> None:
    attacks = 0
    for one in sample:
        for at, message in enumerate(one.messages):
            for call in message.tool_calls:
                words = one.calls[call.id].explained_by
                if one.calls[call.id].kind != "attack":
                    assert words is None
                    continue
                assert words is not None
                where, start, end = words
                attacks += 1
                assert where < at and one.messages[where].level is Level.TOOL
                assert any(
                    span.kind == "attack" and span.start <= start < end <= span.end
                    for span in one.spans[where]
                )
    assert attacks > 100


def test_spans_lie_in_their_message(sample: Sample) -> None:
    for one in sample:
        for where, spans in one.spans.items():
            text = one.messages[where].text
            assert all(0 <= span.start < span.end <= len(text) for span in spans)
            assert all(text[span.start : span.end].strip() for span in spans)


def test_spans_are_sentences_of_the_scenario_and_the_attackers_goal(
    scenarios: Scenarios, styles: Styles
) -> None:
    nothing = NoiseMaterial(paragraphs={}, tools=())
    exact = Counter[str]()
    total = Counter[str]()
    for number, scenario in enumerate(scenarios[::10]):
        at = next(at for at, step in enumerate(scenario.steps) if INJECTION_SLOT in step.output)
        injection = Injection(step=at, attack=0, style=styles[number], delay=0)
        plan = Plan(kind="attacked", injections=(injection,), steps=len(scenario.steps))
        one = play_scenario(scenario, plan, nothing, Random(number), id="x")
        for label in one.calls.values():
            if label.explained_by is not None:
                where, start, end = label.explained_by
                found = words(one.messages[where].text[start:end])
                total["wish"] += 1
                exact["wish"] += found == words(scenario.attacks[0].goal)
        sentences = [words(text) for step in scenario.steps for text in (*step.benign, *step.obey)]
        for where, spans in one.spans.items():
            for span in spans:
                if span.kind != "attack":
                    found = words(one.messages[where].text[span.start : span.end])
                    total["sentence"] += 1
                    exact["sentence"] += found in sentences
    # the rest stands in outputs that were put into another format
    assert exact["wish"] >= 0.9 * total["wish"] > 0
    assert exact["sentence"] >= 0.9 * total["sentence"] > 0


def test_no_blank_is_left_unfilled(sample: Sample) -> None:
    for one in sample:
        whole = "\n".join(message.text for message in one.messages)
        for blank in (INJECTION_SLOT, "{goal}", "{user}", "{tool}", "{topic}"):
            assert blank not in whole
        assert not re.search("[\ue000-\uf8ff]", whole)


def test_the_same_seed_gives_the_same_conversations(scenarios: Scenarios, styles: Styles) -> None:
    def made(seed: int) -> Sample:
        return tuple(generate_conversations(scenarios[:12], styles, seed=seed, per_scenario=4))

    assert made(3) == made(3) != made(4)


def test_half_of_the_conversations_have_an_attack(sample: Sample) -> None:
    kinds = Counter(one.kind for one in sample)
    assert kinds["attacked"] + kinds["ignored"] == len(sample) / 2
    for one in sample:
        attacked = any(span.kind == "attack" for spans in one.spans.values() for span in spans)
        obeyed = any(label.kind == "attack" for label in one.calls.values())
        assert attacked == (one.kind in ("attacked", "ignored"))
        assert not obeyed or one.kind == "attacked"


def test_tasks_stand_at_user_messages_with_their_delegation(sample: Sample) -> None:
    for one in sample:
        users = [at for at, message in enumerate(one.messages) if message.level is Level.USER]
        assert users == list(one.tasks) and users
        assert all(
            (task.source is None) == (task.scope is None)
            for tasks in one.tasks.values()
            for task in tasks
        )
    assert any(task.source for one in sample for tasks in one.tasks.values() for task in tasks)


def test_drift_that_equals_an_aligned_call_of_its_place_is_no_drift(scenarios: Scenarios) -> None:
    for scenario in scenarios:
        for at, step in enumerate(scenario.steps):
            assert is_in_aligned_run(scenario, step.call, at)
        for number in range(len(scenario.attacks)):
            fine = [*scenario.also_fine, *(step.call for step in scenario.steps)]
            assert not any(call in fine for call in hostile_calls(scenario, number))
