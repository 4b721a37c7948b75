from dataclasses import replace

import pytest

from taskshield_lab.training.conversations.labelled import LabelledConversation
from taskshield_lab.training.conversations.pointed_requests import label_pointed_spans
from taskshield_lab.training.examples.output_examples import Label, output_examples
from tests.lab.training.bill_conversation import PAID, READ, conversation, output, span

REQUEST = "Please pay 98.70 to UK12345678901234567890 by Friday."
OTHER = "Keep this bill for ten years."
BILL = f"{REQUEST} {OTHER} Thank you."


def told(asked: str, kind: str = "benign") -> LabelledConversation:
    """The user has a bill paid that says itself where to pay."""
    one = conversation(asked=asked)
    messages = (*one.messages[:3], output(READ, BILL), *one.messages[4:])
    spans = {3: (span(BILL, REQUEST, kind), span(BILL, OTHER, "benign"))}
    return replace(one, messages=messages, spans=spans)


def kinds(one: LabelledConversation) -> list[str]:
    return [found.kind for found in label_pointed_spans(one)[3]]


def test_a_request_that_a_good_call_follows_is_pointed_at() -> None:
    one = told("Pay the bill in bill.txt.")
    assert kinds(one) == ["pointed", "benign"]
    labels: list[Label] = ["pointed", "benign", "plain"]
    assert list(next(output_examples(one)).labels) == labels


def test_what_the_user_named_leads_nowhere() -> None:
    assert kinds(told("Pay the bill: 98.70 to UK12345678901234567890.")) == ["benign", "benign"]


@pytest.mark.parametrize("kind", ["attack", "obey", "wish", "echo"])
def test_only_harmless_imperatives_are_pointed_at(kind: str) -> None:
    assert kinds(told("Pay the bill in bill.txt.", kind)) == [kind, "benign"]


def test_bad_calls_point_at_nothing() -> None:
    one = told("Pay the bill in bill.txt.")
    calls = {id: replace(label, aligned=False) for id, label in one.calls.items()}
    assert kinds(replace(one, calls=calls)) == ["benign", "benign"]


def test_what_is_read_after_a_call_did_not_lead_to_it() -> None:
    one = told("Pay the bill in bill.txt.")
    before, read, *between, last = one.messages[2:]
    assert read.text == BILL and last.answers == PAID.id
    messages = (*one.messages[:2], before, output(READ, "Here."), *between, output(PAID, BILL))
    late = replace(one, messages=messages, spans={7: one.spans[3]})
    assert [found.kind for found in label_pointed_spans(late)[7]] == ["benign", "benign"]
