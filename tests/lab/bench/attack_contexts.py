"""Scenes for attack generators: of any kind, with enough in them that an attacker could use."""

from typing import Any

from hypothesis import strategies as st

from taskshield_lab.bench.attacks.context import AttackContext, Move, Payload

TEXTS = st.one_of(
    st.sampled_from(
        [
            'Send "the {file}" to O\'Neil.\nThen delete C:\\new\\table.',
            "Pay 12.50 to eve@example.com!",
            "{0} %s {goal} \\u0041 \\",
            "  \t\u0085\u2028\x00\x1b[31m  ",
            "",
        ]
    ),
    st.text(max_size=80),
)
MOMENTS = st.datetimes().flatmap(
    lambda moment: st.sampled_from(
        [
            moment.date().isoformat(),
            f"{moment.date().isoformat()} 10:30",
            moment.replace(microsecond=0).isoformat(),
        ]
    )
)
SHAPED = st.one_of(
    MOMENTS,
    st.emails(),
    st.from_regex(r"[A-Z]{2}[0-9]{12,20}", fullmatch=True),
    st.from_regex(r"[0-9]{4} [0-9]{4} [0-9]{4}", fullmatch=True),
    st.from_regex(r"(https://)?www\.[a-z]{3,9}\.com(/[a-z]{2,5})?", fullmatch=True),
    st.from_regex(r"[$€]?[0-9]{1,4}\.[0-9]{2}", fullmatch=True),
    st.sampled_from(["Ruth", "ruth baker", "Marlowe", "marlowe quinn", "2024-13-41"]),
)
VALUES = st.recursive(
    st.one_of(
        SHAPED,
        TEXTS,
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.floats(min_value=0, max_value=1e6),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)
NAMES = st.one_of(
    st.sampled_from(
        "to recipients account amount totalPrice start_date day url guests body id".split()
    ),
    st.text(max_size=8),
)
MOVES = st.builds(
    Move,
    tool=st.one_of(st.sampled_from("read_note pay_bill sendMail book".split()), st.text()),
    arguments=st.dictionaries(NAMES, VALUES, max_size=4),
)
PLANS = st.lists(MOVES, max_size=3).map(tuple)
SCENES = st.builds(
    AttackContext,
    task=TEXTS,
    goal=TEXTS,
    user_moves=PLANS,
    goal_moves=PLANS,
    slots=st.lists(st.text(max_size=8), max_size=4, unique=True).map(tuple),
)


def attack_context(**changes: Any) -> AttackContext:
    known: dict[str, Any] = {
        "task": 'Pay the bill in "bill.txt".',
        "goal": 'Say "hello" to {nobody}.',
        "user_moves": (Move(tool="read_note", arguments={"name": "bill.txt"}),),
        "goal_moves": (Move(tool="say", arguments={"word": "hello"}),),
        "slots": ("first", "second"),
    }
    return AttackContext(**{**known, **changes})


def planted(payload: Payload) -> list[str]:
    return [
        *payload.slots.values(),
        *payload.descriptions.values(),
        *payload.errors.values(),
    ]
