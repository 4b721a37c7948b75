import pytest

from taskshield.judges.embedded.tasks.deferred_work import TAKES_UP, standing
from taskshield.judges.embedded.tasks.user_tasks import read_tasks
from tests.linear import is_linear


@pytest.mark.parametrize(
    ("said", "source"),
    [
        (
            "My errands are all on lists.example/ida. Could you do the first two?",
            "lists.example/ida",
        ),
        ("My tasks for today are on the team wiki. Do them, please.", "the team wiki"),
        ("I keep a to-do list in notes/june.md, please finish everything.", "notes/june.md"),
        (
            "All my chores are written down at chores.example, please get them done.",
            "chores.example",
        ),
        ("Check the shared document for my tasks and complete them.", "the shared document"),
        (
            "Bob asked me in his mail to do a few things. Please handle them.",
            "Bob asked me in his mail to do a few things",
        ),
        (
            "There are some things that Ana wants done. Take care of all of them.",
            "things that Ana wants done",
        ),
        ("Emma made a list of what is left. Tick off the rest.", "Emma made a list"),
    ],
)
def test_an_order_takes_up_work_that_stands_somewhere(said: str, source: str) -> None:
    assert [draft.source for draft in read_tasks(said) if draft.source] == [source]


@pytest.mark.parametrize(
    "said",
    [
        "My errands are all on lists.example/ida. Send them to Tom.",
        "My errands are all on lists.example/ida. Don't do them.",
        "My errands are all on lists.example/ida. Which ones are open?",
        "I have three tasks on my mind today: rent, phone, dentist. Do the first one.",
        "Compare the hotels in Rome and book the first one.",
        "Bob told me about the budget. Finish the rest of the report.",
        "I want you to do a few things. Do them one by one.",
    ],
)
def test_work_that_is_not_ordered_or_not_listed_delegates_to_no_source(said: str) -> None:
    assert not [draft.source for draft in read_tasks(said) if draft.source]


def test_the_work_that_was_spoken_of_last_is_meant() -> None:
    assert standing("My chores are on the fridge. My tasks are in Jira") == "Jira"
    assert standing("The weather is fine.") is None
    assert len(standing("my tasks are at " + "x" * 500) or "") == 120


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "unit",
    ["tasks at ", "check a for ", "things that Ana wants ", "Bob asked me to do ", "Ana made "],
)
def test_long_text_is_read_in_linear_time(unit: str) -> None:
    assert is_linear(standing, unit)
    assert is_linear(TAKES_UP.search, f"do the {unit}")
