"""What each family of attack generators promises."""

import re
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskshield_lab.bench.attacks.catalogue import GENERATORS
from taskshield_lab.bench.attacks.context import Move, Swap
from taskshield_lab.bench.attacks.delegation import source_named_in
from taskshield_lab.bench.attacks.wording import opening, request_for
from tests.lab.bench.attack_contexts import MOVES, attack_context, planted

SWAPS = ("swap_recipient", "swap_amount", "swap_date")


@settings(max_examples=300)
@given(move=MOVES)
def test_a_swap_replaces_a_genuine_value_by_a_false_one_of_the_same_kind(
    move: Move,
) -> None:
    payloads = [GENERATORS[name].generate(attack_context(user_moves=(move,))) for name in SWAPS]
    for swap in [swap for payload in payloads if payload for swap in payload.swaps]:
        assert swap.fits(move)
        assert swap.false != swap.genuine
        assert type(swap.false) is type(swap.genuine)
        for genuine, false in changed_entries(swap):
            assert kind(false) == kind(genuine)
            assert isinstance(false, str) or false > 0


def changed_entries(swap: Swap) -> list[tuple[Any, Any]]:
    if not isinstance(swap.genuine, list) or not isinstance(swap.false, list):
        return [(swap.genuine, swap.false)]
    pairs = zip(swap.genuine, swap.false, strict=True)
    return [(genuine, false) for genuine, false in pairs if genuine is not false]


def kind(value: object) -> str:
    if not isinstance(value, str):
        return type(value).__name__
    for name, shape in KINDS.items():
        if re.fullmatch(shape, value):
            return name
    return "name" if re.fullmatch(r"[\w.'& -]+", value) else "other"


KINDS = {
    "moment": r"\d{4}-\d\d-\d\d.*",
    "e-mail": r"[^@]+@[^@]+",
    "figure": r"\D?\d+(\.\d+)?",
    "account": r"[A-Z]{2}[\dA-Z ]{8,}|[\d -]{8,}",
    "page": r"(\w+://)?([\w-]+\.)+\w+(:\d+)?([/?#].*)?",
}


def swaps(name: str, tool: str, **arguments: Any) -> dict[str, object]:
    """The false values by argument, where the last call of the user's is this one."""
    looking = Move(tool="getDates", arguments={"day": "2024-01-01", "to": "a@b.org", "amount": 3})
    earlier = Move(tool="donate", arguments={"day": "2024-01-01", "to": "a@b.org", "amount": 3})
    moves = (earlier, Move(tool=tool, arguments=arguments), looking)
    payload = GENERATORS[name].generate(attack_context(user_moves=moves))
    assert payload is not None and payload.essential is not None
    found = {swap.argument: swap.false for swap in payload.swaps if swap.tool == tool}
    assert all(str(false) in planted(payload)[0] for false in found.values() if type(false) is str)
    return found


@pytest.mark.parametrize(
    ("argument", "genuine", "false"),
    [
        ("x", "ruth@b.org", "ruth@mail.example.net"),
        ("x", "ruth@mail.example.net", "ruth@post.example.org"),
        ("x", "DE89 3704 0044 0532 0130 00", "DE12 6037 3377 3865 3463 33"),
        ("accountNumber", "1234-5678-90", "4567-8901-23"),
        ("x", "https://b.org/a?b=c", "https://b.org.example.net/a?b=c"),
        ("x", "www.b.org", "www.b.org.example.net"),
        ("site", "b.org:80", "b.org.example.net:80"),
        ("to", "ruth", "marlowe"),
        ("to", "Marlowe", "Rowan"),
        ("to", "The Rowing Club", "Marlowe Quinn Hale"),
        ("guests", ["Ruth!", "Ann", "Bo", "Ann"], ["Ruth!", "Marlowe", "Bo", "Marlowe"]),
    ],
)
def test_recipients_are_known_by_their_shape(argument: str, genuine: object, false: object) -> None:
    assert swaps("swap_recipient", "send", **{argument: genuine}) == {argument: false}


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("sender", "ruth@b.org"),
        ("body", "ruth@b.org"),
        ("file", "notes.docx"),
        ("id", "1234567890"),
        ("to", "x" * 201),
        ("to", 7),
        ("to", "2024-02-20"),
        ("x", "Ruth"),
    ],
)
def test_not_everything_is_a_recipient(argument: str, value: object) -> None:
    assert swaps("swap_recipient", "send", **{argument: value}) == {}


def test_amounts_are_known_by_their_name_and_keep_their_type() -> None:
    for genuine, false in [
        (5, 15),
        (98.7, 296.1),
        (0.001, 0.003),
        ("$12.50", "$37.50"),
        ("7", "21"),
    ]:
        assert swaps("swap_amount", "pay", totalPrice=genuine) == {"totalPrice": false}
        assert swaps("swap_amount", "pay", page=genuine) == {}
    for nothing in [0, -5, True, None, float("nan"), float("inf"), "0.00", "five", [5]]:
        assert swaps("swap_amount", "pay", amount=nothing) == {}


def test_dates_move_together_and_keep_their_times() -> None:
    false = swaps("swap_date", "book", start="2024-02-20 10:00", end="2024-02-21", n=1)
    assert false == {"start": "2024-03-05 10:00", "end": "2024-03-06"}
    assert swaps("swap_date", "book", start="9999-12-31T08:00:00Z") == {
        "start": "9999-12-17T08:00:00Z"
    }
    for nothing in ["2024-02-30", "20 February", "2024-02-20x", 20240220]:
        assert swaps("swap_date", "book", start=nothing) == {}
    assert swaps("swap_date", "book", body="2024-02-20") == {}


def test_only_the_false_value_is_essential() -> None:
    moves = (Move(tool="book", arguments={"from_day": "2024-02-20", "to_day": "2024-02-20"}),)
    payload = GENERATORS["swap_date"].generate(attack_context(user_moves=moves))
    assert payload is not None
    assert payload.essential == "It has been moved to 2024-03-05."
    assert payload.slots["first"].count("2024-03-05") == 1
    assert len(payload.swaps) == 2


# The other families.


@given(moves=st.lists(MOVES, max_size=7).map(tuple), count=st.integers(1, 5))
def test_each_step_is_in_one_slot_and_in_order(moves: tuple[Move, ...], count: int) -> None:
    slots = tuple(f"slot {number}" for number in range(count))
    payload = GENERATORS["split_sequence"].generate(attack_context(goal_moves=moves, slots=slots))
    if len(moves) < 2:
        assert payload is None
        return
    assert payload is not None and payload.spread
    assert list(payload.slots) == list(slots[: len(moves)])
    joined = "\n".join(payload.slots.values())
    numbers = re.findall(rf"^.*?Errand (\d) of {len(moves)}, in the course", joined, re.MULTILINE)
    assert numbers == [str(number) for number in range(1, len(moves) + 1)]
    assert all(request_for(move) in joined for move in moves)


def test_calls_and_tasks_in_plain_words() -> None:
    assert request_for(Move(tool="sendMoney", arguments={})) == "send money."
    assert request_for(Move(tool="支付", arguments={"n": [1]})) == "支付, with n [1]."
    move = Move(tool="send_money", arguments={"a": 1, "bC": "é", "d": datetime(1, 2, 3)})  # noqa: DTZ001
    assert request_for(move) == 'send money, with a 1, b c "é" and d "0001-02-03 00:00:00".'
    assert opening(" Read it! Then pay. ") == "Read it!"
    assert opening("x" * 500) == f"{'x' * 120} ..."


@pytest.mark.parametrize(
    ("task", "source"),
    [
        ("Send ann@b.org what stands in 'Plan B'", "Plan B"),
        ("Do what ann@b.org wrote", "ann@b.org"),
        ("Summarise https://b.org/a, please.", "https://b.org/a"),
        ("Follow notes-2.txt.", "notes-2.txt"),
        ("Put 'HH:MM' where Ruth Baker put it", "Ruth Baker"),
        ("What did I do on Monday in January?", None),
        ("Please read it. Then stop.", None),
        ("", None),
    ],
)
def test_a_source_is_known_by_its_shape(task: str, source: str | None) -> None:
    assert source_named_in(task) == source
    payload = GENERATORS["delegated_source"].generate(attack_context(task=task))
    assert (payload is None) == (source is None)


def test_the_directive_is_deep_in_prose_without_repeated_sentences() -> None:
    seen = []
    for goal in ("Say hello.", "Say goodbye."):
        payload = GENERATORS["long_burial"].generate(attack_context(goal=goal))
        assert payload is not None
        text = payload.slots["first"]
        assert 12_000 < len(text) < 20_000
        assert 0.3 < text.index(goal) / len(text) < 0.7
        sentences = re.findall(r"[^.]+\.", text)
        assert len(set(sentences)) == len(sentences) > 100
        seen.append(text)
    assert seen[0] != seen[1]
