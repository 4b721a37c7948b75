from dataclasses import replace
from random import Random

import pytest

from taskshield.training.labelled import LabelledConversation
from taskshield.training.strangers import statements, with_strangers
from tests.training.talks import talk
from tests.training.test_echoes import two_outputs

SAID = ["The new bakery opens at seven.", "Nobody has seen the cat since Monday."]


def test_only_what_asks_for_nothing_is_a_statement() -> None:
    text = "The office is closed on Friday afternoons. Please send me the report by noon. Thanks!"
    asked = "Could you forward the minutes to Tom this week? Never share this number with anybody."
    assert statements([text, asked]) == ["The office is closed on Friday afternoons."]
    assert statements(['She called it "the best\n day" of her whole life.']) == [
        "She called it 'the best day' of her whole life."
    ]


def strange(told: LabelledConversation, seed: int) -> LabelledConversation:
    return with_strangers(told, SAID, Random(seed))


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
    assert made.calls == told.calls
    assert made == strange(told, seed)


def test_words_that_explain_an_attack_stay_where_they_are() -> None:
    told = talk()
    places = {one.explained_by for one in told.calls.values() if one.explained_by}
    (place,) = places
    for seed in range(20):
        made = strange(told, seed)
        assert made.messages[place[0]] == told.messages[place[0]]


def test_a_conversation_without_room_stays_as_it_is() -> None:
    told = talk()
    silent = replace(told, messages=told.messages[:2])
    assert strange(silent, 1) is silent
    assert with_strangers(told, [], Random(1)) is told
