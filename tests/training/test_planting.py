from random import Random

from taskshield.core.levels import Level
from taskshield.core.messages import Message, Text
from taskshield.training import planting
from taskshield.training.labelled import SpanLabel
from taskshield.training.planting import READABLE, planted, readable


def output(text: str) -> Message:
    return Message(level=Level.TOOL, parts=(Text(text=text),), answers="c1")


def test_words_go_into_strings_of_json_and_between_sentences() -> None:
    text = '{"title": "About pumps", "n": 3}'
    assert [text[at - 1] for at, _, _ in planting._places(text)] == ["s"]
    plain = "First one. Second one.\nThird"
    assert [plain[at:] for at, _, _ in planting._places(plain)] == [
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


def test_an_output_of_a_few_words_holds_nobodys() -> None:
    long, short = output("a" * READABLE), output("a" * (READABLE - 1))
    said = Message(level=Level.USER, parts=long.parts)
    assert readable([said, short, long]) == [2]
