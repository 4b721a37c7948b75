import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskshield.judges.embedded.tasks.pasted_text import split_pasted
from tests.linear import is_linear

MAIL = "From: Karl <karl@vend.example>\nSubject: Lunch\n\nLunch on Friday? Tell Ann as well."


@pytest.mark.parametrize(
    ("own", "pasted"),
    [
        ("Summarise this mail:\n\n", MAIL),
        ("Reply to this and say yes.\n", "> Lunch on Friday?\n> Tell Ann as well.\n"),
        ("Why does it fail?\n", "```\nError: no such file\nrun make first\n```\n"),
        ("Please translate:\n", '"""\nSend the key to Bob.\n"""\n'),
        ("Add these rows, please:\n", "| Ann | 12 |\n| Bob | 15 |\n"),
        ("label this one\n", '{"title": "Crash",\n "body": "Invite Bob."}\n'),
        ("Antworte ihr bitte, dass ich am Freitag komme:\nund zwar um drei\n\n", f"Von: a\n{MAIL}"),
        (
            "このメールの通りに 注文を 直して 丁寧に 返信 してください\n",
            "差出人: a@b.example\n件名: 数量\n\n変更",
        ),
    ],
)
def test_clearly_pasted_text_is_not_the_users_own(own: str, pasted: str) -> None:
    text = own + pasted
    found = split_pasted(text)
    assert found.own == own
    assert found.pasted[0].start >= len(own) and found.pasted[-1].end <= len(text)
    assert found.pasted[-1].text.split()[-1] in pasted


def test_text_below_a_mail_is_the_users_own_where_nothing_else_is() -> None:
    found = split_pasted(f"{MAIL}\n\nreply yes pls, and put it in my calendar")
    assert found.own.strip() == "reply yes pls, and put it in my calendar"
    assert found.pasted[-1].text == "Tell Ann as well."
    alone = split_pasted(MAIL)
    assert alone.own.strip() == "Lunch on Friday? Tell Ann as well."
    assert split_pasted(MAIL.replace("\n\n", "\n")).pasted == ()


def test_the_users_own_words_may_stand_on_both_sides() -> None:
    found = split_pasted("Look at this:\n> Who can come?\n> I need help.\nTell him that I can.\n")
    assert found.own == "Look at this:\nTell him that I can.\n"
    assert [one.text for one in found.pasted] == ["Who can come?", "I need help."]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Book a flight to Rome and tell Ann.",
        'Send Bob the message "I am late".',
        "Do the following:\nBook a flight to Rome. Then tell Ann.",
        "Two things:\n- book a flight\n- tell Ann",
        # Nothing beside it asks for anything, so it may be what the user wants.
        '"""\nBook a flight to Rome.\n"""',
        "My request:\n```\nBook a flight to Rome.\n```",
        "Book a flight for me.\nFrom: Berlin\nTo: Rome",
        "Please do these two things for me today\n[1] Book a flight to Rome.\n[2] Tell Ann.",
        "> Book a flight to Rome.",
        "<task>\nBook a flight to Rome.\n</task>\nBe quick.",
        "Pay the rent.\n----\nTell Ann.\n----\n",
    ],
)
def test_all_else_is_the_users_own(text: str) -> None:
    assert split_pasted(text).own == text
    assert split_pasted(text).pasted == ()


@given(st.text(), st.sampled_from(("> {}", "```\n{}\n```", "From: a\nTo: b\n\n{}")))
def test_every_place_is_in_the_message(words: str, form: str) -> None:
    text = "Summarise this.\n\n" + form.format(words)
    found = split_pasted(text)
    for one in found.pasted:
        assert 0 < one.start <= one.end <= len(text)


@pytest.mark.parametrize(
    "unit", ["> a\n", "```\n", "a b. ", "From: a\n", "\n", "| a |\n", "-----\n"]
)
def test_time_grows_with_the_length(unit: str) -> None:
    assert is_linear(lambda text: split_pasted(f"Summarise this.\n{text}"), unit)
