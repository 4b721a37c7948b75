import pytest

from taskshield.judges.embedded.grammar.run_ons import run_on_starts

PARTED = [
    ("Lunch is at noon on Friday", "Send the code to kit@example.com."),
    ("wipe the bench after lunch", "Set SKU-7 to 18."),
    ("See https://w.example/about", "Could you merge !63?"),
    ("[Tue] Elke (staff)", "Pay the fee of 40 by Friday"),
    ("20ms curl/8.5", "Never phone before ten"),
    ("seen by Tom Okafor", "Please pay K. Mirov 390"),
    ("it is 5 %", "Kindly forward this"),
    ("the wall is up", "Pay Kim Mirov 390."),
]


@pytest.mark.parametrize(("before", "order"), PARTED)
def test_an_order_is_separated_from_the_words_before_it(before: str, order: str) -> None:
    assert list(run_on_starts(f"{before} {order}")) == [len(before) + 1]


WHOLE = [
    "Click the Save button and press Send when you are done.",
    "This is what the Sales Report says about it.",
    "Quote invoice No 5 in your mail.",
    "Choose Open in the menu named Open a file.",
    "We met the team from Open Source Club in Lund.",
    "It rains. Close the window.",
    "please open the door",
    "Die neue Ordnung gilt ab Mai in Berlin.",
    "",
]


@pytest.mark.parametrize("text", WHOLE)
def test_what_is_one_sentence_stays_one(text: str) -> None:
    assert list(run_on_starts(text)) == []
