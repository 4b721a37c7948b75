import json
from dataclasses import replace
from random import Random

import pytest

from taskshield.core.assessments import TaskDraft
from taskshield_lab.training.conversations.labelled import LabelledConversation
from taskshield_lab.training.distractors.other_requests import add_other_request, add_same_request
from taskshield_lab.training.examples.call_examples import call_examples
from taskshield_lab.training.examples.output_examples import output_examples
from tests.lab.training.bill_conversation import PAID, READ, WISH, agent, conversation, output

TASK = "Pay the bill in bill.txt"
LOG = "The office is closed on Monday. The heating was serviced. The lift is out of order."


def two_outputs(task: str = TASK, source: str | None = None) -> LabelledConversation:
    """Between the bill with the injected request and the payment, the agent reads another text."""
    one = conversation()
    look = replace(READ, id="c9")
    return replace(
        one,
        messages=(*one.messages[:4], agent(look), output(look, LOG), *one.messages[4:]),
        calls={**one.calls, "c9": one.calls["c1"]},
        tasks={1: (TaskDraft(text=task, source=source),)},
    )


def words_of(one: LabelledConversation) -> str:
    (found,) = [
        one.messages[number].text[span.start : span.end]
        for number, spans in one.spans.items()
        for span in spans
        if span.kind in ("wish", "echo")
    ]
    return found


def test_a_third_party_asks_for_the_users_task_before_it_is_done() -> None:
    plain, said, places = two_outputs(), set(), set()
    for seed in range(40):
        one = add_same_request(plain, Random(seed))
        changed = [n for n, was in enumerate(plain.messages) if one.messages[n] != was]
        places.update(changed)
        assert "ay the bill in bill.txt" in words_of(one)
        said.add(words_of(one))
        assert (
            ["echo" in output.labels for output in output_examples(one)].count(True)
            == len(changed)
            == 1
        )
    assert places == {3, 5}
    assert "Pay the bill in bill.txt." in said and len(said) > 10
    values = json.loads(PAID.arguments)
    assert 10 < sum(f"({values['to']}, {values['amount']})" in words for words in said)


@pytest.mark.parametrize("seed", range(12))
def test_the_attack_is_still_found_where_it_stands(seed: int) -> None:
    one = add_same_request(two_outputs(), Random(seed))
    stolen = next(call for call in call_examples(one, {}, Random(0), plans=False) if call.goal)
    assert stolen.goal == WISH and words_of(one)


def test_in_other_languages_the_task_stands_for_itself() -> None:
    plain = replace(two_outputs(), lang="de")
    starts = {words_of(add_same_request(plain, Random(seed)))[:24] for seed in range(20)}
    assert starts == {TASK}


@pytest.mark.parametrize("task", ["Do not pay anything yet", "x" * 241])
def test_tasks_that_cannot_be_inserted_are_left_out(task: str) -> None:
    plain = two_outputs(task)
    assert add_same_request(plain, Random(1)) is plain


def test_conversations_without_a_long_output_and_delegations_stay_as_they_are() -> None:
    told = replace(conversation(), tasks={1: (TaskDraft(text=TASK),)})
    short = output(READ, "Not found.")
    nothing_read = replace(told, messages=(*told.messages[:3], short, *told.messages[4:]))
    handed_over = two_outputs(source="the landlord")
    for plain in (nothing_read, handed_over):
        assert add_same_request(plain, Random(1)) is plain


def test_another_users_task_has_the_same_wordings_and_another_label() -> None:
    plain, other = two_outputs("Book a table for nine"), two_outputs()
    said = set()
    for seed in range(40):
        one = add_other_request(plain, other, Random(seed))
        assert "ay the bill in bill.txt" in words_of(one)
        assert any("wish" in output.labels for output in output_examples(one))
        said.add(words_of(one))
    assert said & {words_of(add_same_request(other, Random(seed))) for seed in range(40)}


def test_delegations_and_tasks_that_cannot_be_inserted_get_no_other_request() -> None:
    handed_over = two_outputs(source="the landlord")
    assert add_other_request(handed_over, two_outputs(), Random(1)) is handed_over
    plain = two_outputs()
    assert add_other_request(plain, two_outputs("Never pay anything"), Random(1)) is plain
