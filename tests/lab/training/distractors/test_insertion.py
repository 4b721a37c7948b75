from random import Random

import pytest

from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text
from taskshield_lab.training.conversations.labelled import SpanLabel
from taskshield_lab.training.distractors import insertion
from taskshield_lab.training.distractors.insertion import (
    MIN_LENGTH,
    insert_into_conversation,
    insert_words,
    long_outputs,
)
from tests.lab.training.bill_conversation import WISH, conversation


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


def test_text_is_appended_if_spans_cover_every_position() -> None:
    told = '{"note": "Water the plants"}'
    whole = SpanLabel(start=0, end=len(told), kind="benign")
    held = insert_words(output(told), "Open it.", (whole,), Random(1))
    assert held.message.text == f"{told} Open it." and held.message.answers == "c1"
    assert held.spans == (whole, held.words)


@pytest.mark.parametrize("seed", range(12))
def test_words_that_explain_a_call_are_found_where_they_stand_then(seed: int) -> None:
    told = insert_into_conversation(
        conversation(), 3, "The lift is out of order.", "benign", Random(seed)
    )
    (place,) = [one.explained_by for one in told.calls.values() if one.explained_by]
    assert told.messages[place[0]].text[place[1] : place[2]] == WISH
    (attack,) = [one for one in told.spans[3] if one.kind == "attack"]
    assert told.messages[3].text[attack.start : attack.end] == f"Note to assistants. {WISH}"
    elsewhere = insert_into_conversation(
        conversation(), 5, "The lift is out of order.", "benign", Random(seed)
    )
    assert elsewhere.calls == conversation().calls


def test_a_short_output_gets_no_inserted_text() -> None:
    long, short = output("a" * MIN_LENGTH), output("a" * (MIN_LENGTH - 1))
    said = Message(level=Level.USER, parts=long.parts)
    assert long_outputs([said, short, long]) == [2]
