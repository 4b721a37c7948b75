import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from operator import getitem
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taskshield.adapters.agent_hooks.steps import Memory
from taskshield.adapters.stored.agent_hooks import MEMORY
from taskshield.adapters.stored.cases import CASE, POLICY
from taskshield.adapters.stored.documents import NEWEST, Document, read_json, write_json
from taskshield.adapters.stored.records import NEEDED, Member, Record
from taskshield.adapters.stored.sessions import HEAD, STATE, TOOL, TURN, HeadContent
from taskshield.adapters.stored.shapes import TEXT, WHOLE
from taskshield.core.decisions import Case
from taskshield.core.errors import WireFormatError
from taskshield.core.messages import ToolCall
from taskshield.core.policy import Policy
from taskshield.core.session_state import SessionState
from taskshield.core.tools import ToolSpec
from tests.adapters.stored import examples
from tests.adapters.stored.any_values import TEXTS, values

big = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], max_examples=20
)

VERSIONS = range(1, NEWEST + 1)


@big
@given(values(Case), st.sampled_from(VERSIONS))
def test_any_case_comes_back_equal(case: Case, version: int) -> None:
    assert CASE.read(CASE.write(case, version)) == case


@big
@given(values(SessionState), st.sampled_from(VERSIONS))
def test_any_state_comes_back_equal_and_with_its_types(state: SessionState, version: int) -> None:
    again = STATE.read(STATE.write(state, version))
    assert again == state
    assert repr(again.usage) == repr(state.usage)


@big
@given(values(Memory), st.sampled_from(VERSIONS))
def test_any_memory_comes_back_equal(memory: Memory, version: int) -> None:
    assert MEMORY.read(MEMORY.write(memory, version)) == memory


@big
@given(values(SessionState), st.dictionaries(TEXTS, st.integers()))
def test_any_head_comes_back_equal_without_what_grows(
    state: SessionState, parts: Mapping[str, int]
) -> None:
    head = HeadContent(state=state, names=("n",), approvable={"a": frozenset("xy")}, parts=parts)
    bare = SessionState(id=state.id)
    growing = {
        name: getattr(bare, name)
        for name in ("system", "objectives", "tools", "tasks", "tainted", "history")
    }
    assert HEAD.read(HEAD.write(head)) == replace(head, state=replace(state, **growing))


@pytest.mark.parametrize(
    "text", ["\ud800", "\udfff\ud800", "\x00\x1f\x7f", "\u2028é\U0001f600", "\\u0000"]
)
def test_odd_characters_survive_in_texts_and_keys(text: str) -> None:
    call = ToolCall(id=text, name=text, arguments=text)
    spec = ToolSpec(name=text, parameters={text: [text]})
    state = SessionState(
        id=text, open_calls={text: call}, refused=frozenset({text}), tools={text: spec}
    )
    stored = STATE.write(state)
    assert stored.isascii()
    assert STATE.read(stored) == state


def test_equal_values_give_equal_text() -> None:
    one = SessionState(id="s", refused=frozenset("abcdefgh"))
    other = SessionState(id="s", refused=frozenset("hgfedcba"))
    assert STATE.write(one) == STATE.write(other)


def edited(path: str, value: object) -> str:
    """The stored case with one of its members changed."""
    stored = json.loads(CASE.write(examples.CASE))
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    reduce(getitem, way, stored)[last] = value
    return json.dumps(stored)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("check", "perhaps", "check: must be one of executed, skipped, failed"),
        ("check", None, "check: a string is needed, found nothing"),
        ("index", "0", "index: a whole number is needed, found a string"),
        ("index", 0.0, "index: a whole number is needed, found a decimal number"),
        ("index", True, "index: a whole number is needed, found true or false"),
        ("trace.cached", 1, "trace.cached: true or false is needed, found a whole number"),
        ("elapsed_ms", "1", "elapsed_ms: a decimal number is needed, found a string"),
        ("elapsed_ms", True, "elapsed_ms: a decimal number is needed, found true or false"),
        ("elapsed_ms", 10**400, "elapsed_ms: the number is too large"),
        ("message.level", "root", "message.level: must be one of system, user"),
        ("message.level", [], "message.level: a string is needed, found a list"),
        ("message.parts", {}, "message.parts: a list is needed, found an object"),
        ("message.parts.0.text", 3, "message.parts[0].text: a string is needed, found a whole"),
        ("message.parts.1", {}, "message.parts[1]: has no member text or kind"),
        ("message.parts.1", 1, "message.parts[1]: an object is needed, found a whole number"),
        ("policy.misaligned.odd", "block", "policy.misaligned.odd: must be one of read, write"),
        ("policy.misaligned.read", "odd", "policy.misaligned.read: must be one of observe"),
        ("tiers", {"f": "odd"}, "tiers.f: must be one of read, write"),
        ("tiers", [], "tiers: an object is needed, found a list"),
        ("tiers", {"not an identifier": 1}, "tiers.<key>: a string is needed"),
        ("refused", [1], "refused[0]: a string is needed, found a whole number"),
        ("refused", "f", "refused: a list is needed, found a string"),
        ("tasks.tasks.0.instruction.level", "tool", "tasks.tasks[0]: Only a user message can"),
        ("trace", None, "trace: an object is needed, found nothing"),
        ("version", "2", "version: not a version of a stored document"),
        ("version", True, "version: not a version of a stored document"),
        ("version", 0, "version: not a version of a stored document"),
        ("version", 99, "Case: written by a newer release, in format 99; this release reads"),
    ],
)
def test_errors_name_the_path(path: str, value: object, message: str) -> None:
    with pytest.raises(WireFormatError) as caught:
        CASE.read(edited(path, value))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "text", ["", "{", "nul", "[]", "3", '"x"', "[" * 100_000, '{"index": ' + "9" * 5000 + "}"]
)
def test_what_is_not_a_stored_value_is_refused(text: str) -> None:
    with pytest.raises(WireFormatError, match=r"^Case: "):
        CASE.read(text)


def test_nesting_beyond_reason_is_refused_both_ways() -> None:
    deep: dict[str, object] = {}
    for _ in range(5000):
        deep = {"x": deep}
    with pytest.raises(WireFormatError, match="tool: cannot be written"):
        TOOL.write(ToolSpec(name="f", parameters=deep))
    with pytest.raises(WireFormatError, match="tool: cannot be written"):
        write_json(TOOL.record, ToolSpec(name="f", parameters=deep), "tool")
    parameters = '{"x": ' * 5000 + "1" + "}" * 5000
    with pytest.raises(WireFormatError, match="tool: not JSON"):
        TOOL.read(f'{{"name": "f", "parameters": {parameters}}}')


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"messages": "three"}, "messages: a whole number is needed, found a string"),
        ({"messages": True}, "messages: a whole number is needed, found true or false"),
        ({"objectives_known": 1}, "objectives_known: true or false is needed"),
        ({"history": []}, "history: a tuple is needed, found a list"),
        ({"refused": {"f"}}, "refused: a set is needed, found set"),
        ({"tools": ()}, "tools: an object is needed, found tuple"),
        ({"tools": {"f": "g"}}, "tools.f: str has no name"),
        ({"tools": {"f": ToolSpec(name="f", parameters={"x": {1}})}}, "SessionState: cannot be"),
    ],
)
def test_a_value_that_belies_its_types_is_not_written(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(WireFormatError) as caught:
        STATE.write(replace(SessionState(id="s"), **changes))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"check": "odd"}, "check: must be one of"),
        ({"check": []}, "check: must be one of"),
        ({"elapsed_ms": "1"}, "elapsed_ms: a decimal number is needed"),
        (
            {"message": replace(examples.PLAN, parts=cast(Any, ("x",)))},
            r"message.parts[0]: text or kind is",
        ),
    ],
)
def test_a_case_that_belies_its_types_is_not_written(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(WireFormatError) as caught:
        CASE.write(replace(examples.CASE, **changes))
    assert str(caught.value).startswith(message)


@big
@given(
    st.dictionaries(st.sampled_from([*SessionState.__slots__, "version"]), values(object)),
    st.booleans(),
)
def test_any_json_is_read_or_refused(stored: dict[str, object], whole: bool) -> None:
    text = json.dumps({**json.loads(STATE.write(SessionState(id="s"))), **stored})
    with suppress(WireFormatError):
        assert isinstance(STATE.read(text if whole else json.dumps(stored)), SessionState)


EXAMPLES: dict[str, tuple[Document[Any], Any]] = {
    "case": (CASE, examples.CASE),
    "memory": (MEMORY, examples.MEMORY),
    "turn": (TURN, examples.TURN),
    "tool": (TOOL, examples.TOOL),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_format_1_has_no_version_and_every_later_one_has_it_first(name: str) -> None:
    document, value = EXAMPLES[name]
    first = json.loads(document.write(value, 1))
    assert "version" not in first
    assert list(json.loads(document.write(value, 2)).items()) == [("version", 2), *first.items()]


def taken(document: Document[Any], value: Any, name: str) -> str:
    stored = json.loads(document.write(value))
    del stored[name]
    return json.dumps(stored)


@pytest.mark.parametrize(
    ("document", "value", "safe"),
    [
        (CASE, examples.CASE, {"approved", "elapsed_ms"}),
        (MEMORY, examples.MEMORY, {"calls", "system", "said"}),
        (TURN, examples.TURN, set()),
        (TOOL, examples.TOOL, set()),
        (
            STATE,
            SessionState(id="s", approved=frozenset({"f"}), objectives_known=True),
            {"objectives_known", "approved", "counters", "usage"},
        ),
        (
            HEAD,
            HeadContent(state=SessionState(id="s"), names=("n",)),
            {"objectives_known", "approved", "counters", "usage", "names", "approvable"},
        ),
    ],
)
def test_only_what_cannot_weaken_the_guard_may_be_missing(
    document: Document[Any], value: Any, safe: set[str]
) -> None:
    names = {each.name for each in document.record.members}
    assert safe < names
    assert {each.name for each in document.record.members if each.default is not NEEDED} == safe
    for name in safe:
        document.read(taken(document, value, name))
    for name in names - safe:
        with pytest.raises(WireFormatError, match=rf"^{name}: this member is missing$"):
            document.read(taken(document, value, name))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_members_that_are_not_known_are_ignored(name: str, version: int) -> None:
    document, value = EXAMPLES[name]
    stored = json.loads(document.write(value, version))
    stored["new"] = {"any": ["thing"]}
    for inner in stored.values():
        if isinstance(inner, dict) and name == "case":
            inner["new here"] = 1
    if name == "case":  # an object with any keys takes them, so not here
        del stored["tiers"]["new here"]
    assert document.read(json.dumps(stored)) == value


def test_a_head_keeps_members_that_are_not_known() -> None:
    stored = json.loads(HEAD.write(HeadContent(state=SessionState(id="s"))))
    stored["new"] = {"any": ["thing"]}
    head = HEAD.read(json.dumps(stored))
    assert head.unknown == {"new": {"any": ["thing"]}}
    assert json.loads(HEAD.write(head)) == stored
    del stored["new"]
    assert json.loads(HEAD.write(replace(head, unknown={"messages": 3}))) == stored


class Point:
    def __init__(self, *, across: int, label: str) -> None:
        self.across, self.label = across, label


def lift(plain: dict[str, Any]) -> dict[str, Any]:
    return {"across": plain["x"], "label": plain["label"]}


def lower(plain: dict[str, Any]) -> dict[str, Any]:
    return {"x": plain["across"], "label": plain["label"]}


POINT: Document[Point] = Document(
    name="point",
    record=Record(Point, Member("across", WHOLE), Member("label", TEXT)),
    lifts={1: lift},
    lowers={1: lower},
)


def test_an_old_layout_is_lifted_and_can_still_be_written() -> None:
    old = '{"x": 3, "label": "a"}'
    lifted = POINT.read(old)
    assert (lifted.across, lifted.label) == (3, "a")
    assert POINT.write(lifted, 1) == old
    assert POINT.write(lifted) == '{"version": 2, "across": 3, "label": "a"}'
    with pytest.raises(WireFormatError, match="across: this member is missing"):
        POINT.read('{"version": 2, "x": 3, "label": "a"}')


def test_a_lift_that_finds_too_little_refuses_the_document() -> None:
    with pytest.raises(WireFormatError, match="point: "):
        POINT.read("{}")


def test_an_added_member_is_left_out_where_it_has_its_default() -> None:
    record = Record(
        Point, Member("across", WHOLE), Member("label", TEXT, default="none", added=True)
    )
    assert write_json(record, Point(across=1, label="none"), "point") == '{"across": 1}'
    assert read_json(record, '{"across": 1}', "point").label == "none"
    text = write_json(record, Point(across=1, label="b"), "point")
    assert text == '{"across": 1, "label": "b"}'
    assert read_json(record, text, "point").label == "b"
    with pytest.raises(WireFormatError, match="label: a string is needed"):
        write_json(record, Point(across=1, label=5), "point")  # type: ignore[arg-type]


def test_the_text_of_a_policy_stays_the_same_between_releases() -> None:
    assert write_json(POLICY, Policy(), "Policy") == (
        '{"misaligned": {"read": "revise", "write": "revise", "external": "revise",'
        ' "destructive": "revise", "financial": "revise", "access": "revise"}, "tools": {},'
        ' "text": "revise", "output": "annotate", "outage": {"read": "allow", "write": "block",'
        ' "external": "block", "destructive": "block", "financial": "block", "access": "block"},'
        ' "output_outage": null, "rounds": 3, "epsilon": null, "tiers": {}, "objectives": "auto",'
        ' "history_tokens": 32000}'
    )
