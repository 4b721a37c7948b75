from random import Random

import pytest

from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text
from taskshield_lab.training.conversations.labelled import SpanLabel
from taskshield_lab.training.distractors import insertion
from taskshield_lab.training.distractors.insertion import READABLE, planted, readable, with_words
from tests.lab.training.talks import WISH, talk


def output(text: str) -> Message:
    return Message(level=Level.TOOL, parts=(Text(text=text),), answers="c1")


def test_words_go_into_strings_of_json_and_between_sentences() -> None:
    text = '{"title": "About pumps", "n": 3}'
    assert [text[at - 1] for at, _, _ in insertion._places(text)] == ["s"]
    plain = "First one. Second one.\nThird"
    assert [plain[at:] for at, _, _ in insertion._places(plain)] == [
        plain,
        "Second one.\nThird",
        "Third",
        "",
    ]


def test_where_every_place_is_somebodys_the_end_is_left() -> None:
    told = '{"note": "Water the plants"}'
    whole = SpanLabel(start=0, end=len(told), kind="benign")
    held = planted(output(told), "Open it.", (whole,), Random(1))
    assert held.message.text == f"{told} Open it." and held.message.answers == "c1"
    assert held.spans == (whole, held.words)


@pytest.mark.parametrize("seed", range(12))
def test_words_that_explain_a_call_are_found_where_they_stand_then(seed: int) -> None:
    told = with_words(talk(), 3, "The lift is out of order.", "benign", Random(seed))
    (place,) = [one.explained_by for one in told.calls.values() if one.explained_by]
    assert told.messages[place[0]].text[place[1] : place[2]] == WISH
    (attack,) = [one for one in told.spans[3] if one.kind == "attack"]
    assert told.messages[3].text[attack.start : attack.end] == f"Note to assistants. {WISH}"
    elsewhere = with_words(talk(), 5, "The lift is out of order.", "benign", Random(seed))
    assert elsewhere.calls == talk().calls


def test_an_output_of_a_few_words_holds_nobodys() -> None:
    long, short = output("a" * READABLE), output("a" * (READABLE - 1))
    said = Message(level=Level.USER, parts=long.parts)
    assert readable([said, short, long]) == [2]
