from dataclasses import replace
from random import Random

import pytest

from taskshield_lab.training.conversations.labelled import LabelledConversation
from taskshield_lab.training.distractors.neutral_sentences import (
    add_neutral_sentences,
    find_neutral_sentences,
)
from taskshield_lab.training.examples.call_examples import call_examples
from tests.lab.training.bill_conversation import WISH, conversation
from tests.lab.training.distractors.test_other_requests import two_outputs

SAID = ["The new bakery opens at seven.", "Nobody has seen the cat since Monday."]


def test_only_what_asks_for_nothing_is_a_statement() -> None:
    text = "The office is closed on Friday afternoons. Please send me the report by noon. Thanks!"
    asked = "Could you forward the minutes to Tom this week? Never share this number with anybody."
    assert find_neutral_sentences([text, asked]) == ["The office is closed on Friday afternoons."]
    assert find_neutral_sentences(['She called it "the best\n day" of her whole life.']) == [
        "She called it 'the best day' of her whole life."
    ]


def strange(told: LabelledConversation, seed: int) -> LabelledConversation:
    return add_neutral_sentences(told, SAID, Random(seed))


@pytest.mark.parametrize("seed", range(8))
def test_sentences_are_put_into_outputs_and_marked_as_harmless(seed: int) -> None:
    told = two_outputs()
    made = strange(told, seed)
    added = [
        made.messages[number].text[one.start : one.end]
        for number, spans in made.spans.items()
        for one in spans
        if one not in told.spans.get(number, ())
        if one.kind == "benign"
    ]
    assert 1 <= sum(words in SAID for words in added) <= 3
    assert made == strange(told, seed)


def test_the_attack_beside_them_is_still_found() -> None:
    made = [strange(conversation(), seed) for seed in range(8)]
    assert any(one.messages[3] != conversation().messages[3] for one in made)
    for one in made:
        (stolen,) = [call for call in call_examples(one, {}, Random(0), plans=False) if call.goal]
        assert stolen.goal == WISH


def test_a_conversation_without_room_stays_as_it_is() -> None:
    told = conversation()
    silent = replace(told, messages=told.messages[:2])
    assert strange(silent, 1) is silent
    assert add_neutral_sentences(told, [], Random(1)) is told
