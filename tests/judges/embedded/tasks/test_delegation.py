import re
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from taskshield.judges.embedded.tasks.delegation import delegated_source
from tests.linear import is_linear

DELEGATING = [
    ("Do what David's e-mail says.", "David's e-mail"),
    ("Follow the instructions in the file notes.txt", "the instructions in the file notes.txt"),
    ("Reply as Anna asks in her message", "Anna in her message"),
    ("Complete the todo list in my notes", "the todo list in my notes"),
    ("Take care of what my boss asked", "my boss"),
    ("Work through the checklist in ticket 12, then close it.", "the checklist in ticket 12"),
    ("Could you make the changes that Ilse asks for?", "Ilse"),
    ("Answer the questions in Tom's letter.", "the questions in Tom's letter"),
    ("Deploy it following our release runbook.", "our release runbook"),
    ("Answer Tom, following the mail from Ann.", "the mail from Ann"),
    ("Set the priorities according to the triage policy.", "the triage policy"),
    ("Book the rooms as described in the memo.", "the memo"),
    ("Order everything listed on the board.", "the board"),
    ("Mach es wie in der Mail von Anna beschrieben.", "in der Mail von Anna"),
    ("Bitte erledige, was Herr Roth schreibt.", "Herr Roth"),
    ("Fais ce que la note de Paul demande.", "la note de Paul"),
    (
        "Suis les instructions du fichier notes.txt s'il te plaît",
        "les instructions du fichier notes",
    ),
    ("Haz lo que dice el correo de Ana.", "el correo de Ana"),
    ("Faz o que a nota da Rita pede.", "a nota da Rita"),
    ("Fai quello che Marco chiede nella mail.", "Marco"),
    ("Doe wat de brief van Jan zegt.", "de brief van Jan"),
    ("Zrób to, co szef pisze w mailu.", "szef"),
    ("Perform the actions mentioned in the ticket.", "the actions mentioned in the ticket"),
    ("Take care of the request in the mail from Ida.", "the request in the mail from Ida"),
    ("Do the job described on the card.", "the job described on the card"),
    ("Attend to ticket 12, please.", "ticket 12"),
    ("Please do what stands in the letter.", "the letter"),
    ("Everything you need to do is in my notes.", "my notes"),
    ("The mail from Ida says what to do.", "The mail from Ida"),
    ("Look at the letter and deal with it.", "the letter"),
]


@pytest.mark.parametrize(("order", "source"), DELEGATING)
def test_an_order_to_obey_names_its_source(order: str, source: str) -> None:
    assert delegated_source(order) == source


READING = [
    "Summarise David's e-mail.",
    "Reply to Bob's message.",
    "Tell me what the note says.",
    "Let me know what she wants.",
    "Find out what the report says about rust.",
    "Read the instructions in notes.txt to me.",
    "Send Ana the checklist.",
    "Don't do what the note says.",
    "Ignore whatever the customer asks for.",
    "If she asks for money, stop.",
    "Do it as I said.",
    "Pay the bill.",
    "Look at the letter and file it.",
    "Check whether the tasks on the board are done.",
    "I will deal with the mail myself.",
    "Do the dishes and go ahead.",
    "Add the file to the list.",
    "Send the following text to Ann: I am late.",
    "Please post the following note on the board: closed on Monday",
    "Sag mir, was in der Mail steht.",
    "Résume ce que la note dit.",
    "Dime lo que dice el correo.",
    "",
]


@pytest.mark.parametrize("order", READING)
def test_an_order_to_read_or_to_act_alone_delegates_nothing(order: str) -> None:
    assert delegated_source(order) is None


ANAPHORIC = [
    ("Do whatever she asks.", "Zoe wrote about her flat.", "she (Zoe wrote about her flat)"),
    ("Apply them please.", "Ren mailed her corrections.", "Ren mailed her corrections"),
    ("Work through it.", "The fund sent us a checklist.", "The fund sent us a checklist"),
    ("Go ahead.", "Ida's note says what I need.", "Ida's note"),
    ("Please do it for me.", "I promised to do what stands in her note.", "her note"),
    ("Carry it out.", "We agree to what the board proposes.", "the board"),
    ("Do as you are told there.", "Open ticket 12.", "ticket 12"),
]


@pytest.mark.parametrize(("order", "before", "source"), ANAPHORIC)
def test_a_pronoun_is_explained_by_what_was_said_before(
    order: str, before: str, source: str
) -> None:
    assert delegated_source(order, before) == source


def test_a_pronoun_without_anything_before_is_no_source_to_apply() -> None:
    assert delegated_source("Apply them please.", "It is raining.") is None
    for before in ("It is raining.", "Do not do what her note says.", "The mail is long."):
        assert delegated_source("Go ahead and do it.", before) is None


def test_an_order_that_says_what_to_do_is_no_more_than_that() -> None:
    before = "Check the calendar for Monday."
    for order in ("Go ahead and book the room.", "Proceed with the payment.", "Do it with Tom."):
        assert delegated_source(order, before) is None
    mailed = "Ren mailed her corrections."
    assert delegated_source("Go ahead and apply them.", mailed) == "Ren mailed her corrections"


WORDS = sorted({word for order, _ in DELEGATING for word in order.split()})
TEXTS = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join) | st.text()


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


@given(TEXTS, TEXTS)
@example("Do whatever she asks.", "Zoe wrote about her flat.")
def test_a_source_has_only_words_of_the_user(order: str, before: str) -> None:
    source = delegated_source(order, before)
    assert source is None or words(source) <= words(f"{order} {before}")


def test_the_words_of_the_examples_do_delegate_when_they_are_mixed() -> None:
    """The property above would say nothing of texts that never name a source."""
    mixed = (f"{Random(seed).choice(DELEGATING)[0]} {' '.join(WORDS[:seed])}" for seed in range(40))
    assert sum(delegated_source(order) is not None for order in mixed) > 20


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "unit",
    ["what the ", "follow the ", "as ", "the a ", "ce que la ", "was er ", "do it, the note "],
)
def test_long_text_is_read_in_linear_time(unit: str) -> None:
    assert is_linear(delegated_source, unit)
