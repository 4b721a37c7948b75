import json
import typing
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum
from functools import reduce
from operator import getitem
from types import NoneType, UnionType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taskshield.adapters.stored_values import dump, load
from taskshield.core.assessments import Trace
from taskshield.core.decisions import Case, Decision
from taskshield.core.errors import WireFormatError
from taskshield.core.instructions import Instruction, Objective, Origin, Task, TaskSet
from taskshield.core.levels import Level
from taskshield.core.messages import Message, Opaque, Text, ToolCall
from taskshield.core.policy import Policy
from taskshield.core.tools import Tier, ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Stands for a session's state: all the shapes that one may hold."""

    tools: Mapping[str, ToolSpec] = field(default_factory=dict)
    tiers: Mapping[Tier, int] = field(default_factory=dict)
    open_calls: Mapping[str, ToolCall] = field(default_factory=dict)
    messages: tuple[Message, ...] = ()
    refused: frozenset[str] = frozenset()
    seen: frozenset[Tier] = frozenset()
    last: Message | None = None
    ratio: float = 0.0
    count: int = 0
    known: bool = False


CASE = Case(
    id="d1",
    message=Message(level=Level.USER, parts=(Text(text="hi"), Opaque(kind="image"))),
    index=0,
    policy=Policy(),
    check="executed",
    tasks=TaskSet(
        tasks=(
            Task(
                id="t1",
                instruction=Instruction(text="x", level=Level.USER, origin=Origin(message=0)),
            ),
        )
    ),
    trace=Trace(judge="scripted"),
)
DECISION = Decision(
    action="allow", findings=(), calls=(), feedback=None, content="", round=None, case=CASE
)


def paired(text: str) -> str:
    """The text with each pair of surrogates as the one character that it stands for."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


TEXTS = st.text(st.characters(exclude_categories=()), max_size=6).map(paired)
SCALARS: dict[object, st.SearchStrategy[Any]] = {
    str: TEXTS,
    int: st.integers(),
    bool: st.booleans(),
    float: st.floats(allow_nan=False),
    NoneType: st.none(),
    object: st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
        max_leaves=4,
    ),
}
SPEAKERS = {Task: Level.USER, Objective: Level.SYSTEM}


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Any value of a type, with every field filled in, defaults or not."""
    if kind in SCALARS:
        return SCALARS[kind]
    if kind in SPEAKERS:
        spoken = values(Instruction).map(lambda said: replace(said, level=SPEAKERS[kind]))
        return built(kind, instruction=spoken)
    if is_dataclass(kind):
        return built(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return st.sampled_from(kind)
    arguments = typing.get_args(kind)
    origin = typing.get_origin(kind)
    if origin is typing.Literal:
        return st.sampled_from(arguments)
    inner = [values(argument) for argument in arguments if argument is not Ellipsis]
    if origin in (typing.Union, UnionType):
        return st.one_of(inner)
    if origin is tuple:
        return st.lists(inner[0], max_size=2).map(tuple)
    if origin is frozenset:
        return st.frozensets(inner[0], max_size=3)
    assert origin is Mapping, kind
    return st.dictionaries(*inner, max_size=3)


def built(kind: Any, **given: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    hints = typing.get_type_hints(kind)
    names = [f.name for f in fields(kind) if f.name not in given]
    return st.builds(kind, **given, **{name: values(hints[name]) for name in names})


big = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@big
@given(values(Decision))
def test_any_decision_comes_back_equal(decision: Decision) -> None:
    assert load(Decision, dump(decision)) == decision


@big
@given(values(Case))
def test_any_case_comes_back_equal(case: Case) -> None:
    assert load(Case, dump(case)) == case


@big
@given(values(State))
def test_any_state_comes_back_equal_and_with_its_types(state: State) -> None:
    again = load(State, dump(state))
    assert again == state
    assert repr(again.messages) == repr(state.messages)
    assert (type(again.count), type(again.ratio)) == (int, float)


@pytest.mark.parametrize(
    "text", ["\ud800", "\udfff\ud800", "\x00\x1f\x7f", "\u2028é\U0001f600", "\\u0000"]
)
def test_odd_characters_survive_in_texts_and_keys(text: str) -> None:
    call = ToolCall(id=text, name=text, arguments=text)
    spec = ToolSpec(name=text, parameters={text: [text]})
    state = State(open_calls={text: call}, refused=frozenset({text}), tools={text: spec})
    stored = dump(state)
    assert stored.isascii()
    assert load(State, stored) == state


def test_equal_values_give_equal_text() -> None:
    one = State(refused=frozenset("abcdefgh"))
    other = State(refused=frozenset("hgfedcba"))
    assert dump(one) == dump(other)


def test_what_is_left_out_takes_its_default() -> None:
    assert load(State, "{}") == State()


def edited(path: str, value: object) -> str:
    """The stored decision with one of its members changed."""
    stored = json.loads(dump(DECISION))
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    reduce(getitem, way, stored)[last] = value
    return json.dumps(stored)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("action", "perhaps", "action: Input should be 'allow'"),
        ("action", None, "action: Input should be"),
        ("case.index", "0", "case.index: a whole number is needed, found a string"),
        ("case.index", 0.0, "case.index: a whole number is needed, found a decimal number"),
        ("case.index", True, "case.index: a whole number is needed, found true or false"),
        (
            "case.trace.cached",
            1,
            "case.trace.cached: true or false is needed, found a whole number",
        ),
        ("case.elapsed_ms", "1", "case.elapsed_ms: a decimal number is needed, found a string"),
        ("case.elapsed_ms", None, "case.elapsed_ms: Input should be a valid number"),
        ("case.message.level", "root", "case.message.level: Input should be 'system'"),
        ("case.message.parts", {}, "case.message.parts: Input should be a valid tuple"),
        ("case.message.parts.0.text", 3, "case.message.parts[0].text: Input should be a valid str"),
        ("case.message.parts.0.kind", "x", "case.message.parts[0].kind: this field is not known"),
        ("case.message.parts.1", {}, "case.message.parts[1].text: Field required"),
        ("case.policy.misaligned.odd", "block", "case.policy.misaligned.odd: Input should be"),
        ("case.tiers", {"f": "odd"}, "case.tiers.f: Input should be 'read'"),
        ("case.refused", [1], "case.refused[0]: Input should be a valid string"),
        ("case.tasks.tasks.0.instruction.level", "tool", "Decision: Only a user message can"),
        ("verdict", 1, "verdict: this field is not known"),
        ("case.not an identifier", 1, "case.<key>: this field is not known"),
    ],
)
def test_errors_name_the_path(path: str, value: object, message: str) -> None:
    with pytest.raises(WireFormatError) as caught:
        load(Decision, edited(path, value))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "text", ["", "{", "nul", "[]", "3", '"x"', "[" * 100_000, '{"count": ' + "9" * 5000 + "}"]
)
def test_what_is_not_a_stored_value_is_refused(text: str) -> None:
    with pytest.raises(WireFormatError, match=r"^State: "):
        load(State, text)


def test_nesting_beyond_reason_is_refused_both_ways() -> None:
    deep: dict[str, object] = {}
    for _ in range(5000):
        deep = {"x": deep}
    with pytest.raises(WireFormatError, match="State: cannot be written"):
        dump(State(tools={"f": ToolSpec(name="f", parameters=deep)}))
    parameters = '{"x": ' * 5000 + "1" + "}" * 5000
    with pytest.raises(WireFormatError, match="State: not JSON"):
        load(State, f'{{"tools": {{"f": {{"name": "f", "parameters": {parameters}}}}}}}')


def test_a_value_that_belies_its_types_is_not_written() -> None:
    wrong: Any = "three"
    with pytest.raises(WireFormatError, match="State: cannot be written as JSON"):
        dump(State(count=wrong))


@big
@given(st.dictionaries(st.sampled_from([f.name for f in fields(State)]), values(object)))
def test_any_json_is_loaded_or_refused(stored: dict[str, object]) -> None:
    with suppress(WireFormatError):
        assert isinstance(load(State, json.dumps(stored)), State)
