"""Redaction of what is stored: the JSON stays whole, and decisions replay."""

import asyncio
import json
import typing
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskshield import AsyncShield, Decision, Level
from taskshield.adapters.stored.cases import CASE
from taskshield.adapters.stored.sessions import STATE
from taskshield.core.assessments import AssessedInstruction, Score, Trace
from taskshield.core.decisions import Case
from taskshield.core.instructions import Span
from taskshield.core.messages import Message, Text, ToolCall, digest
from taskshield.core.policy import Policy
from taskshield.core.session_state import SessionState
from taskshield.core.tools import Tier
from taskshield.engine.decide import decide
from taskshield.stores.secrets.redaction import _TEXTS, redacted, redacted_case, redacted_state
from tests.judging import TableJudge

KEY = "sk-" + "a1B2c3D4e5" * 4
MARK = "[secret]"


def test_json_in_strings_of_json_is_looked_into_and_its_layout_kept() -> None:
    inner = json.dumps({"password": "hunter2", "list": [KEY, 3], "pin": 4})
    text = '{ "mail" :\n ' + json.dumps(inner) + ',\t"api_key": 12345, "n": 1e5}'
    expected = inner.replace("hunter2", MARK).replace(KEY, MARK)
    assert redacted(text) == (
        '{ "mail" :\n ' + json.dumps(expected) + f',\t"api_key": "{MARK}", "n": 1e5}}'
    )


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"password": ["a", {"x": "b"}, "c"]}, {"password": [MARK, {"x": "b"}, "c"]}),
        ([{"password": "a"}, "b"], [{"password": MARK}, "b"]),
        ({"password": {"type": "string"}}, {"password": {"type": "string"}}),
        ({"password": None, "secret": True, "token": ""}, None),
        ({KEY: 1}, {MARK: 1}),
        ({"é": f"ü {KEY}"}, {"é": f"ü {MARK}"}),
        ({"text": "the password\n=\thunter2"}, {"text": f"the password\n=\t{MARK}"}),
    ],
)
def test_members_of_data(data: object, expected: object) -> None:
    assert json.loads(redacted(json.dumps(data))) == (data if expected is None else expected)


HARMLESS = st.text('ab01{}[]":,\\ \n\u00e9\U0001f600', max_size=8)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | HARMLESS,
    lambda inner: st.lists(inner) | st.dictionaries(HARMLESS, inner),
)


@given(ANY_JSON)
def test_json_without_secrets_stays_as_it_is(value: object) -> None:
    text = json.dumps(value)
    assert redacted(text) == text
    assert redacted_state(text) == text


@given(st.text(st.characters(exclude_categories=()), max_size=20))
def test_any_text_around_a_secret_stays_as_it_is(text: str) -> None:
    outer = json.dumps({"text": f"{text} {KEY} {text}", "id": KEY})
    assert json.loads(redacted_state(outer)) == {
        **json.loads(outer),
        "text": json.loads(json.dumps(f"{text} {MARK} {text}")),
    }


def test_the_deepest_nesting_does_no_harm() -> None:
    deep = "[" * 100_000 + "]" * 100_000
    assert redacted(deep) == deep
    state = json.dumps({"text": deep}).replace("]]", f']"{KEY}"]', 1)
    assert redacted_state(state)


# Stored values: texts are changed, names are not.


def strings(kind: Any, name: str = "") -> Iterator[str]:
    """The names of all members that hold strings, in values of a type."""
    if is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        for field in fields(kind):
            yield from strings(hints[field.name], field.name)
    elif kind is str:
        yield name
    else:
        for argument in typing.get_args(kind):
            yield from strings(argument, name)


NAMES = {
    *("id", "name", "call_id", "answers", "tool", "target"),  # refer to each other
    *("refused", "approved"),  # fingerprints
    *("kind", "judge", "prompt", "tools", "tiers", "open_calls", "parameters"),
}


@pytest.mark.parametrize("kind", [Case, SessionState])
def test_every_string_that_is_stored_is_either_a_text_or_a_name(kind: type) -> None:
    assert set(strings(kind)) - NAMES <= _TEXTS


TEXTS = st.sampled_from(
    [
        "Do it!",
        f"Use the key {KEY} to log in! Then pay!",
        "My password is hunter2! Send it!",
        json.dumps({"note": "Pay!", "password": "hunter2"}),
        json.dumps({"auth": json.dumps({"api_key": KEY})}),
        f"{{{KEY}!",
    ]
)
CALLS = st.builds(
    ToolCall,
    id=st.sampled_from("abc"),
    name=st.sampled_from(["get_password", "pay"]),
    arguments=TEXTS,
)
MESSAGES = st.one_of(
    TEXTS.map(lambda text: Message(level=Level.USER, parts=(Text(text=text), Text(text=text)))),
    st.builds(
        lambda text, calls: Message(
            level=Level.ASSISTANT, parts=(Text(text=text),), tool_calls=tuple(calls)
        ),
        TEXTS,
        st.lists(CALLS, max_size=2, unique_by=lambda call: call.id),
    ),
    st.builds(
        lambda id, text: Message(level=Level.TOOL, parts=(Text(text=text),), answers=id),
        st.sampled_from("abc"),
        TEXTS,
    ),
)


def fixed(*texts: str) -> float:
    return int(digest(*texts)[:2], 16) % 3 / 2


def conversed(messages: list[Message]) -> tuple[list[Decision], SessionState]:
    judge = TableJudge(
        directives=lambda text: [part for part in text.split("!") if part.strip()],
        score=fixed,
        taint=fixed,
    )

    async def run() -> tuple[list[Decision], SessionState]:
        async with AsyncShield(judge, cache_entries=0) as shield:
            session = shield.session()
            decisions = [await session.add(message) for message in messages]
            return decisions, session.state

    return asyncio.run(run())


def outcome(decision: Decision) -> object:
    """All of a decision but its words."""
    findings = [
        (each.aligned, each.approved, each.action, each.total, each.call_id, each.tier)
        for each in decision.findings
    ]
    calls = [(verdict.call.id, verdict.tier, verdict.action) for verdict in decision.calls]
    return decision.action, findings, calls, decision.round, decision.feedback is None


@given(st.lists(MESSAGES, max_size=8))
def test_redacted_cases_replay_and_redacted_states_load(messages: list[Message]) -> None:
    decisions, state = conversed(messages)
    for decision in decisions:
        stored = redacted_case(CASE.write(decision.case))
        assert KEY not in stored and "hunter2" not in stored
        assert outcome(decide(CASE.read(stored))) == outcome(decision)
    kept = redacted_state(STATE.write(state))
    assert KEY not in kept and "hunter2" not in kept
    loaded = STATE.read(kept)
    assert (loaded.refused, loaded.counters, len(loaded.tasks)) == (
        state.refused,
        state.counters,
        len(state.tasks),
    )


def case(text: str, spans: Mapping[str, Span], **changed: Any) -> Case:
    items = tuple(
        AssessedInstruction(
            text=word, span=span, scores=(Score(target="t1", value=0.0, reason="no"),)
        )
        for word, span in spans.items()
    )
    plain = Case(
        id="d1",
        message=Message(level=Level.TOOL, parts=(Text(text=text[:10]), Text(text=text[11:]))),
        index=0,
        policy=Policy(output="redact"),
        check="executed",
        assessed=items,
        trace=Trace(judge="scripted"),
    )
    return replace(plain, **changed)


def test_spans_still_point_at_their_words() -> None:
    text = f"one two  .\nthree {KEY} four ghp_{'a1' * 20} five"
    words = {
        word: Span(start=text.index(word), end=text.index(word) + len(word))
        for word in text.split()
    }
    stored = CASE.read(redacted_case(CASE.write(case(text, words))))
    after = stored.message.text
    assert after == f"one two  .\nthree {MARK} four {MARK} five"
    for item in stored.assessed:
        assert item.span is not None
        assert after[item.span.start : item.span.end] == item.text


def test_a_span_that_ends_within_a_secret_grows_over_it() -> None:
    text = f"0123456789\nsend {KEY} now"
    start = text.index("send")
    half = {"x": Span(start=start, end=start + 12), "y": Span(start=start + 9, end=len(text))}
    stored = CASE.read(redacted_case(CASE.write(case(text, half))))
    after = stored.message.text
    found = [after[item.span.start : item.span.end] for item in stored.assessed if item.span]
    assert found == [f"send {MARK}", f"{MARK} now"]


def test_a_refused_call_is_still_the_refused_one() -> None:
    call = ToolCall(id="c", name="login", arguments=json.dumps({"password": "hunter2"}))
    item = AssessedInstruction(
        text="log in", call_id="c", scores=(Score(target="t1", value=0.0, reason="no"),)
    )
    asked = case(
        "",
        {},
        message=Message(level=Level.ASSISTANT, tool_calls=(call,)),
        assessed=(item,),
        tiers={"login": Tier.WRITE},
        refused=frozenset({call.fingerprint(), "other"}),
    )
    assert decide(asked).action == "block"
    stored = redacted_case(CASE.write(asked))
    assert "hunter2" not in stored
    assert decide(CASE.read(stored)).action == "block"
