"""Messages that only ask for information rule out what no question can ask for."""

import pytest

from taskshield.core.tools import Tier
from taskshield.judges.embedded.restrictions.wording.questions import only_asks
from tests.judges.embedded.restrictions.situations import kinds

QUESTIONS = (
    "How many days of leave do I have left?",
    "Hi! Which jobs failed last night?",
    "Show me the invoices of May.",
    "Is the pump still running, and since when?",
    "Wie viel Urlaub habe ich noch?",
    "¿Cuánto cuesta el billete?",
    "Combien de jours reste-t-il ?",
)
REQUESTS = (
    "Can you cancel job 4812?",
    "How about Tuesday at three?",
    "Which jobs failed? Restart them.",
    "Check the invoices and pay the late ones.",
    "Tell Ana and show her the list.",
    "Tell ana@firm.example that I am late.",
    "Show Ana the list.",
    "Könnten Sie den Termin absagen?",
    "Was kostet das? Bitte buchen.",
    "the second one",
    "Thanks!",
    "",
    "What is new? " * 60,
)


@pytest.mark.parametrize("text", QUESTIONS)
def test_a_question_asks_for_information(text: str) -> None:
    place = only_asks(text)
    assert place is not None
    assert text[place.start : place.end].strip()


@pytest.mark.parametrize("text", REQUESTS)
def test_a_request_asks_for_more(text: str) -> None:
    assert only_asks(text) is None


@pytest.mark.parametrize(
    ("tool", "tier", "about", "against"),
    [
        ("delete_order", Tier.DESTRUCTIVE, "Deletes an order.", True),
        ("leave.apply", Tier.WRITE, "Submits a request for leave.", True),
        ("bestellung_stornieren", Tier.FINANCIAL, "Storniert eine Bestellung.", True),
        ("orders.open", Tier.WRITE, "Opens an order.", False),
        ("payments", Tier.FINANCIAL, "Register of payments.", False),
        ("execute_tool", Tier.ACCESS, "Executes a tool.", False),
    ],
)
def test_a_question_asks_for_nothing_to_be_done(
    tool: str, tier: Tier, about: str, against: bool
) -> None:
    for asked in ("Which orders are open?", "Wie viele Bestellungen sind offen?"):
        assert ("look_only" in kinds([asked], tool, tier, about=about, id="o-12")) is against


def test_what_was_ordered_before_a_question_may_still_be_done() -> None:
    turns = ["Cancel all open orders.", "Which ones are there?"]
    assert (
        kinds(turns, "cancel_order", Tier.DESTRUCTIVE, about="Cancels an order.", id="1") == set()
    )
