import pytest

from taskshield.judges.embedded.tasks.inline_lists import is_inline_list
from taskshield.judges.embedded.tasks.user_tasks import read_tasks
from tests.linear import is_linear


@pytest.mark.parametrize(
    "clause",
    [
        "Follow these instructions:",
        "Carry out the following three steps",
        "Please do the following tasks in the given order:",
        "Complete the tasks listed below.",
        "Work through the list below: water the plants",
        "Apply the following corrections to the letter:",
        "Follow this plan to the end:",
        "DO THE STEPS BELOW!",
    ],
)
def test_a_list_that_follows_is_the_users_own(clause: str) -> None:
    assert is_inline_list(clause)


@pytest.mark.parametrize(
    "clause",
    [
        "Follow the instructions in the following mail from Ida:",
        "Do the following tasks from Tom's list:",
        "Carry out the steps on the page below.",
        "Follow these instructions.",
        "Apply these corrections please",
        "Do what the following letter says",
        "Pay the bill below.",
        "Answer Tom, following our rules",
        "",
    ],
)
def test_what_stands_elsewhere_or_was_said_before_is_not(clause: str) -> None:
    assert not is_inline_list(clause)


def test_the_users_own_list_delegates_to_no_source() -> None:
    drafts = read_tasks("Carry out these steps: pay the rent, then do what Ida's mail says.")
    assert [draft.source for draft in drafts if draft.source] == ["Ida's mail"]


@pytest.mark.no_cover
@pytest.mark.parametrize("unit", ["these steps ", "following ", "steps below ", "the list "])
def test_long_text_is_read_in_linear_time(unit: str) -> None:
    assert is_linear(is_inline_list, unit)
