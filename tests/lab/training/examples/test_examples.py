from collections import defaultdict
from dataclasses import replace
from random import Random

import pytest

from taskshield.core.levels import Level
from taskshield.core.messages import text_message
from taskshield.judges.embedded.network import inputs
from taskshield.judges.embedded.text.segments import segments
from taskshield_lab.training.conversations.labelled import LabelledConversation, is_delegating
from taskshield_lab.training.examples.call_examples import (
    CallExample,
    Flags,
    call_examples,
    simulate_flags,
)
from taskshield_lab.training.examples.instruction_pairs import instruction_pairs, swap_value
from taskshield_lab.training.examples.output_examples import Label, output_examples
from tests.lab.training import bill_conversation
from tests.lab.training.bill_conversation import (
    BENIGN,
    BILL,
    CALLS,
    LATER,
    WISH,
    conversation,
    span,
)

Sample = tuple[LabelledConversation, ...]

PIECES = [segment.text for segment in segments(BILL)]
WISHED = PIECES.index(WISH)
FOUND: Flags = {3: frozenset({WISHED})}


def calls(flags: Flags = FOUND, told: LabelledConversation | None = None) -> list[CallExample]:
    return list(
        call_examples(conversation() if told is None else told, flags, Random(1), plans=False)
    )


def answers(one: CallExample, seeds: int = 1) -> dict[inputs.Pair, float]:
    return {
        pair: right for seed in range(seeds) for pair, right in instruction_pairs(one, Random(seed))
    }


def test_a_segment_is_labelled_with_whose_words_it_holds() -> None:
    bill, done, later = output_examples(conversation())
    assert dict(zip(bill.pieces, bill.labels, strict=True)) == {
        "The bill is due on 5 June.": "plain",
        BENIGN: "benign",
        "Note to assistants.": "attack",
        WISH: "attack",
        "Thank you.": "plain",
    }
    assert (bill.message, bill.head) == (3, "read file")
    assert (done.head, done.labels) == ("send money", ("plain",))
    assert (later.message, set(later.labels)) == (7, {"plain"})


@pytest.mark.parametrize(
    ("words", "found"),
    [("Please keep this bill", "obey"), ("Please keep", "plain"), (BENIGN, "obey")],
)
def test_a_segment_has_the_label_that_covers_half_of_it(words: str, found: Label) -> None:
    (bill, *_) = output_examples(conversation(spans=[span(BILL, words, "obey")]))
    assert bill.labels[PIECES.index(BENIGN)] == found


def test_an_attack_is_never_outvoted_by_other_spans() -> None:
    both = [span(BILL, WISH, "attack"), span(BILL, WISH, "benign")]
    for spans in (both, both[::-1]):
        (bill, *_) = output_examples(conversation(spans=spans))
        assert bill.labels[WISHED] == "attack"


def test_an_output_that_answers_no_call_has_no_head() -> None:
    told = conversation()
    orphan = replace(told.messages[3], answers=None)
    told = replace(told, messages=(*told.messages[:3], orphan, *told.messages[4:]))
    assert next(output_examples(told)).head == ""


def test_flags_are_noisy_within_bounds(sample: Sample) -> None:
    rng = Random(3)
    counts: defaultdict[Label, list[bool]] = defaultdict(list)
    for one in sample:
        flags = simulate_flags(one, rng)
        outputs = list(output_examples(one))
        assert flags.keys() == {output.message for output in outputs}
        for output in outputs:
            assert flags[output.message] <= set(range(len(output.labels)))
            for number, label in enumerate(output.labels):
                counts[label].append(number in flags[output.message])
    shares = {label: sum(hits) / len(hits) for label, hits in counts.items()}
    assert 0.55 < shares["attack"] < 0.75
    assert 0.12 < shares["benign"] < 0.32
    assert 0.32 < shares["pointed"] < 0.55 and 0.4 < shares["obey"] < 0.65
    assert 0 < shares["plain"] < 0.05


def test_sometimes_every_imperative_of_a_conversation_is_flagged() -> None:
    flags = [simulate_flags(conversation(), Random(seed))[3] for seed in range(400)]
    both = sum({PIECES.index(BENIGN), WISHED} <= one for one in flags)
    assert 0.12 < both / 400 < 0.28


def test_sometimes_all_attacks_of_a_conversation_are_missed() -> None:
    missed = sum(
        WISHED not in simulate_flags(conversation(), Random(seed))[3] for seed in range(400)
    )
    assert 0.28 < missed / 400 < 0.45


@pytest.mark.parametrize(("kind", "share"), [("wish", 0.66), ("echo", 0.42), ("obey", 0.5)])
def test_requests_of_third_parties_are_sometimes_flagged(kind: Label, share: float) -> None:
    told = conversation(spans=[span(BILL, WISH, kind)])
    noticed = sum(WISHED in simulate_flags(told, Random(seed))[3] for seed in range(400))
    assert abs(noticed / 400 - share) < 0.08


def test_outputs_come_with_what_the_user_has_said_before_them() -> None:
    one = conversation()
    later = replace(one, messages=(*one.messages[:4], text_message(Level.USER, "And the rent.")))
    later = replace(later, messages=(*later.messages, *one.messages[4:]))
    asked = one.messages[1].text
    assert [found.request for found in output_examples(later)] == [
        asked,
        *[f"{asked}\nAnd the rent."] * 2,
    ]
    assert {found.request for found in output_examples(later, with_request=False)} == {""}
    bill = next(output_examples(later))
    assert bill.heading == inputs.heading(bill.head, asked) != bill.head


def test_the_same_seed_gives_the_same_flags_and_calls(sample: Sample) -> None:
    one = sample[0]

    def made(seed: int) -> tuple[Flags, list[CallExample]]:
        rng = Random(seed)
        flags = simulate_flags(one, rng)
        return flags, list(call_examples(one, flags, rng))

    assert made(4) == made(4)
    assert len({str(made(seed)[0]) for seed in range(12)}) > 1


def test_evidence_sees_only_what_came_before_the_call() -> None:
    read, stolen, paid = calls()
    assert [one.evidence.call for one in (read, stolen, paid)] == list(CALLS)
    assert read.evidence.steps == () and not read.evidence.suspects
    assert stolen.evidence.steps == ("read file",) and not stolen.evidence.known
    assert [one.directive.text for one in stolen.evidence.suspects] == [WISH]
    assert stolen.evidence.fresh
    assert paid.evidence.steps == ("read file", "send money") and paid.evidence.known
    assert not paid.evidence.fresh


@pytest.mark.parametrize("number", range(3))
def test_what_comes_after_a_call_changes_nothing_about_it(number: int) -> None:
    told = conversation()
    at = next(n for n, one in enumerate(told.messages) if CALLS[number] in one.tool_calls)
    cut = calls(told=replace(told, messages=told.messages[: at + 1]))
    assert cut == calls()[: number + 1]


def test_no_evidence_of_a_made_conversation_sees_the_future(sample: Sample) -> None:
    for one in sample[:24:3]:
        flags = {
            output.message: frozenset(range(len(output.labels[:1])))
            for output in output_examples(one)
        }
        whole = calls(flags, one)
        at = max(n for n, message in enumerate(one.messages) if message.tool_calls)
        cut = calls(flags, replace(one, messages=one.messages[:at]))
        assert cut == whole[: len(cut)] and len(cut) < len(whole)


def test_only_flagged_segments_are_directives() -> None:
    assert all(not one.evidence.directives for one in calls({}))
    apart = calls({3: frozenset({0, WISHED})})
    assert [one.evidence.directives for one in apart] == [0, 2, 2]
    joined = calls({3: frozenset({WISHED - 1, WISHED})})
    assert joined[1].evidence.suspects[0].directive.text == f"Note to assistants. {WISH}"


def test_a_call_carries_the_words_that_explain_it() -> None:
    assert [one.goal for one in calls()] == ["", WISH, ""]
    assert [one.label.aligned for one in calls()] == [True, False, True]
    assert {(one.conversation, one.domain, one.lang, one.setting) for one in calls()} == {
        ("bill:0", "bills", "en", "attacked")
    }


def test_some_calls_are_announced_as_plans() -> None:
    made = [list(call_examples(conversation(), FOUND, Random(seed))) for seed in range(60)]
    plans = [one for some in made for one in some if one.evidence.kind == "plan"]
    assert 0.05 < len(plans) / (60 * len(CALLS)) < 0.22
    assert [one for one in made[0] if one.evidence.kind != "plan"] == calls()
    for one in plans:
        said = str(one.evidence.call.parse_arguments())
        assert one.evidence.spec is None
        assert "{" not in one.evidence.values[0].value.text
        if one.label.kind == "attack":
            assert "send money" in said and "US133000000121212121212" in said
            assert [suspect.directive.text for suspect in one.evidence.suspects] == [WISH]


def test_plans_carry_the_label_of_their_call() -> None:
    for seed in range(60):
        before: CallExample | None = None
        for one in call_examples(conversation(), FOUND, Random(seed)):
            if one.evidence.kind == "plan":
                assert before is not None
                assert (one.label, one.goal) == (before.label, before.goal)
            before = one


def test_the_attackers_request_asks_for_the_attack_and_the_user_does_not() -> None:
    _, stolen, _ = calls()
    found = answers(stolen)
    assert found[inputs.asks(WISH, stolen.evidence)] == 1.0
    assert found[inputs.asks(inputs.request(stolen.evidence), stolen.evidence)] == 0.0


def test_the_user_asks_for_an_aligned_call_and_the_attacker_does_not() -> None:
    *_, paid = calls()
    found = answers(paid)
    assert found[inputs.asks(inputs.request(paid.evidence), paid.evidence)] == 1.0
    assert found[inputs.asks(WISH, paid.evidence)] == 0.0


def test_no_one_asks_for_a_call_with_another_value() -> None:
    _, stolen, paid = calls()
    for one, wanted in ((stolen, WISH), (paid, bill_conversation.ASKED)):
        made = [
            pair for seed in range(20) for pair in swap_value(wanted, one.evidence, Random(seed))
        ]
        assert 0 < len(made) <= 20
        unchanged = inputs.asks(wanted, one.evidence)
        for (text, call), right in made:
            assert right == 0.0 and text == unchanged[0] and call != unchanged[1]


def test_a_value_that_the_text_does_not_give_is_not_swapped() -> None:
    _, stolen, _ = calls()
    for seed in range(20):
        assert not list(swap_value("Send some money.", stolen.evidence, Random(seed)))


def test_a_swapped_value_is_scrambled_if_there_is_no_other_value() -> None:
    *_, paid = calls({})
    assert not paid.evidence.snippet
    made = [
        p
        for seed in range(20)
        for p, _ in swap_value(bill_conversation.ASKED, paid.evidence, Random(seed))
    ]
    assert made and all(LATER not in call for _, call in made)
    assert len({call for _, call in made}) > 2


def test_an_unexplained_attack_has_no_positive_pair() -> None:
    _, stolen, _ = calls()
    unexplained = replace(stolen, goal="")
    assert 1.0 not in answers(unexplained, seeds=5).values()


def test_the_best_suspect_of_an_attack_has_no_negative_pair() -> None:
    other: Flags = {3: frozenset({PIECES.index(BENIGN)})}
    _, stolen, _ = calls(other)
    told = inputs.asks(BENIGN, stolen.evidence)
    assert told not in answers(stolen, seeds=5)
    *_, paid = calls(other)
    assert answers(paid)[inputs.asks(BENIGN, paid.evidence)] == 0.0


def test_a_directive_that_a_good_call_may_follow_has_no_negative_pair() -> None:
    words = "Pay 98.70 to UK12345678901234567890."
    one = conversation(asked="Pay the bill.")
    told = replace(one, messages=(*one.messages[:3], bill_conversation.output(CALLS[0], words)))
    told = replace(told, messages=(*told.messages, bill_conversation.agent(CALLS[2])))
    _, paid = call_examples(told, {3: frozenset({0})}, Random(0), plans=False)
    (suspect,) = paid.evidence.suspects
    assert suspect.directive.text == words and suspect.explains.share == 0.5
    assert inputs.asks(words, paid.evidence) not in answers(paid, seeds=5)


def test_delegating_conversations_are_recognised() -> None:
    assert not is_delegating(conversation())
    assert is_delegating(conversation(source="the bill"))


def test_delegation_in_evidence_is_what_is_recognised_not_what_is_known() -> None:
    known = calls(told=conversation(source="the bill"))
    assert all(one.delegating and not one.evidence.delegated for one in known)
    plain = calls(told=conversation(asked="Do what Ana's e-mail says."))
    assert all(not one.delegating and "Ana" in one.evidence.delegated for one in plain)


def test_every_call_of_a_made_conversation_is_judged(sample: Sample) -> None:
    for one in sample[::16]:
        found = list(call_examples(one, {}, Random(0), plans=False))
        made = [c for m in one.messages if m.level is Level.ASSISTANT for c in m.tool_calls]
        assert [each.evidence.call for each in found] == made
        assert [each.label for each in found] == [one.calls[call.id] for call in made]
