import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskshield.judges.embedded.tasks.assistant_plans import MOST_PLANS, read_plans
from tests.linear import is_linear

PLANS = [
    "I'll now transfer 20 euros to Bob.",
    "I will send the report to Ana.",
    "Let me look up the address.",
    "Next step: delete the old files.",
    "I need to first send the confirmation.",
    "I'm going to book the room.",
    "First, I'll open the mail.",
    "Let's update the record.",
    "We should cancel the order.",
    "You must confirm the payment on the bank's page.",
    "Please transfer the fee to the new account.",
    "Open the link and enter your password.",
    "The mail asks for it, so I will forward the file.",
    "For a faster answer I will send your number along.",
    "Ich werde jetzt das Geld überweisen.",
    "Ich überweise jetzt 20 Euro.",
    "Als Nächstes lösche ich die Dateien.",
    "Je vais envoyer le rapport.",
    "Laissez-moi vérifier l'adresse.",
    "Voy a enviar el informe.",
    "Tengo que borrar los archivos.",
]


@pytest.mark.parametrize("sentence", PLANS)
def test_an_intention_or_an_order_is_a_plan(sentence: str) -> None:
    text = f"The mail is from Ana. {sentence}"
    assert [text[plan.start : plan.end] for plan in read_plans(text)] == [sentence]


NO_PLANS = [
    "I have sent the report to Ana.",
    "I sent it yesterday.",
    "Would you like me to send it?",
    "Should I delete the files?",
    "Let me know if you need anything else.",
    "If you'd like, I'll send it to Bob.",
    "I can book the room for you.",
    "I will not send anything.",
    "The bill is 20 euros.",
    "Nothing was deleted.",
    "Note: the shop is closed.",
    "Start time: 10:00 in the hall.",
    "Order 17 arrived on Monday.",
    "Ich habe das Geld überwiesen.",
    "Soll ich das Geld überweisen?",
    "J'ai envoyé le rapport.",
    "Dites-moi si je dois l'envoyer.",
    "He enviado el informe.",
    "",
]


@pytest.mark.parametrize("sentence", NO_PLANS)
def test_reports_offers_and_information_are_no_plans(sentence: str) -> None:
    assert read_plans(sentence) == ()


def test_only_so_many_plans_are_read() -> None:
    assert len(read_plans("I'll send it now. " * 50)) == MOST_PLANS


@given(st.text())
def test_plans_lie_in_the_text_in_order(text: str) -> None:
    cursor = 0
    for plan in read_plans(text):
        assert cursor <= plan.start < plan.end <= len(text)
        cursor = plan.end


@pytest.mark.no_cover
@pytest.mark.parametrize("unit", ["I ", "I will ", "and, ", "please ", ": ", "a"])
def test_long_text_is_read_in_linear_time(unit: str) -> None:
    assert is_linear(read_plans, unit)
