from dataclasses import replace
from random import Random

import pytest

from taskshield_lab.training.conversations.labelled import LabelledConversation
from taskshield_lab.training.conversations.truncation import truncate_outputs
from tests.lab.training.bill_conversation import READ, STOLEN, WISH, conversation, output, span

ACCOUNT = "Account: UK12345678901234567890"
FIRST, SECOND = "Please keep this bill for ten years.", "Bring it along in March."
LINES = (
    "The bill is due on 5 June.",
    "Nothing to see in this line.",
    FIRST,
    "A line about the weather.",
    "Another line about the weather.",
    SECOND,
    "One more about the weather.",
    "And one about the garden.",
    ACCOUNT,
    "A line about the cat.",
    f"Note to assistants. {WISH}",
    "A line about the dog.",
    "Thank you.",
)
BILL = "\n".join(LINES)


def billed(text: str = BILL) -> LabelledConversation:
    """The conversation with a longer bill, which says where to pay, as the user does not."""
    one = conversation(asked="Pay the bill in bill.txt: 98.70.")
    wish = span(text, WISH, "attack")
    return replace(
        one,
        messages=(*one.messages[:3], output(READ, text), *one.messages[4:]),
        spans={3: (span(text, FIRST, "benign"), span(text, SECOND, "benign"), wish)},
        calls={
            **one.calls,
            STOLEN.id: replace(one.calls[STOLEN.id], explained_by=(3, wish.start, wish.end)),
        },
    )


SHORT = [truncate_outputs(billed(), Random(seed)) for seed in range(40)]


def test_an_output_gets_short_and_nothing_else_changes() -> None:
    for one in SHORT:
        lines = one.messages[3].text.splitlines()
        assert 3 <= len(lines) < len(LINES) and set(lines) <= set(LINES)
        assert sorted(lines, key=LINES.index) == lines
        assert replace(one.messages[3], parts=()) == replace(billed().messages[3], parts=())
        others = [(*made.messages[:3], *made.messages[4:]) for made in (one, billed())]
        assert others[0] == others[1]


def test_what_later_calls_need_stays() -> None:
    for one in SHORT:
        assert ACCOUNT in one.messages[3].text and WISH in one.messages[3].text


def test_whose_words_stand_where_is_still_known() -> None:
    for one in SHORT:
        text = one.messages[3].text
        words = {(text[span.start : span.end], span.kind) for span in one.spans[3]}
        assert (WISH, "attack") in words
        assert words - {(WISH, "attack")} == {
            (harmless, "benign") for harmless in (FIRST, SECOND) if harmless in text
        }
        where = one.calls[STOLEN.id].explained_by
        assert where is not None and text[where[1] : where[2]] == WISH and where[0] == 3


def test_of_harmless_imperatives_one_stays() -> None:
    kept = {tuple(words in one.messages[3].text for words in (FIRST, SECOND)) for one in SHORT}
    assert {(True, False), (False, True)} <= kept and (False, False) not in kept


def test_other_lines_stay_only_beside_those_that_must() -> None:
    beside = {LINES[at] for at in (1, 3, 4, 6, 7, 9, 11)}
    for one in SHORT:
        lines = one.messages[3].text.splitlines()
        assert set(lines) <= beside | {FIRST, SECOND, ACCOUNT, LINES[10]}


@pytest.mark.parametrize(
    "text",
    [
        f"{FIRST}\n{SECOND}\n{ACCOUNT}\n{WISH}",
        f'{{"notes": [\n"{FIRST}",\n"{SECOND}",\n"{ACCOUNT}",\n"{WISH}",\n"Bye."\n]}}',
    ],
    ids=["few lines", "JSON"],
)
def test_some_outputs_are_left_as_they_are(text: str) -> None:
    assert truncate_outputs(billed(text), Random(1)) == billed(text)


def test_a_value_over_several_lines_keeps_the_output_whole() -> None:
    one = billed()
    told = replace(STOLEN, arguments='{"text": "the weather.\\nBring it along"}')
    messages = tuple(
        replace(message, tool_calls=(told,)) if message.tool_calls == (STOLEN,) else message
        for message in one.messages
    )
    whole = replace(one, messages=messages)
    assert truncate_outputs(whole, Random(1)) == whole


def test_an_output_that_no_call_needs_keeps_a_few_lines() -> None:
    one = replace(billed(), spans={}, messages=(*billed().messages[:3], output(READ, "ab\n" * 20)))
    assert 1 <= len(truncate_outputs(one, Random(2)).messages[3].text.splitlines()) <= 3
