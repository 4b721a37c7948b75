import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskshield.core.messages import ToolCall
from taskshield.judges.embedded.evidence.argument_values import (
    ArgumentValue,
    Kind,
    argument_values,
    kind_of,
    kinds_in,
)


def call(arguments: object) -> ToolCall:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ToolCall(id="1", name="tool", arguments=text)


def value(text: str) -> ArgumentValue:
    return ArgumentValue(path="", text=text, kind=kind_of(text))


KINDS: list[tuple[str, Kind]] = [
    ("ines@harbour.example", "address"),
    ("https://harbour.example/fees?y=2024", "url"),
    ("harbour.org/fees", "url"),
    ("NO9386011117947", "account"),
    ("NO93 8601 1117 947", "account"),
    ("1234 5678 9012", "account"),
    ("+47 555 01 234", "account"),
    ("INV-2031", "identifier"),
    ("channel_7", "identifier"),
    ("42", "number"),
    ("-1,200.50", "number"),
    ("$1,200", "number"),
    ("35 €", "number"),
    ("2024-05-03", "date"),
    ("2024-05-03T14:30:00Z", "date"),
    ("3 May 2024", "date"),
    ("May 3rd", "date"),
    ("03.05.2024", "date"),
    ("5/3/2024", "date"),
    ("14:30", "time"),
    ("2 pm", "time"),
    ("Ines Roth", "name"),
    ("Zoë de la Cruz", "name"),
    ("张伟", "name"),
    ("/srv/fees/june.csv", "path"),
    ("C:\\fees\\june.csv", "path"),
    ("june report.pdf", "path"),
    ("please pay the fee", "text"),
    ("x" * 5000, "text"),
    ("true", "flag"),
    ("", "flag"),
]


@pytest.mark.parametrize(("text", "kind"), KINDS)
def test_kind_by_shape(text: str, kind: Kind) -> None:
    assert kind_of(text) == kind


def test_values_have_their_path_and_are_kept_as_written() -> None:
    arguments = '{"to": ["a@b.example", "c@d.example"], "event": {"fee": 12.50, "open": null}}'
    assert [(found.path, found.text) for found in argument_values(call(arguments))] == [
        ("to[0]", "a@b.example"),
        ("to[1]", "c@d.example"),
        ("event.fee", "12.50"),
        ("event.open", "null"),
    ]


@pytest.mark.parametrize("arguments", ["", "not json", '{"a": ', "[" * 100_000, '"\\ud800"'])
def test_arguments_that_are_not_an_object_do_not_fail(arguments: str) -> None:
    assert len(argument_values(call(arguments))) == 1


def test_the_number_of_values_is_bounded() -> None:
    assert len(argument_values(call({"a": list(range(10_000))}))) == 2000


def test_deep_arguments_are_read_as_text() -> None:
    nested: object = "end"
    for _ in range(100):
        nested = [nested]
    (found,) = argument_values(call({"a": nested}))
    assert "end" in found.text


@pytest.mark.parametrize("text", ["", "true", "no", "7", "12", "of", "--", "5 €"])
def test_trivial_values(text: str) -> None:
    assert value(text).trivial


@pytest.mark.parametrize("text", ["13", "1.5", "rope", "张伟", "a@b.example", "14:30", "A7"])
def test_values_that_carry_evidence(text: str) -> None:
    assert not value(text).trivial


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(_JSON)
def test_any_arguments_can_be_read(arguments: object) -> None:
    for found in argument_values(call(arguments)):
        assert isinstance(found.trivial, bool)


@given(st.text())
def test_any_text_can_be_read(arguments: str) -> None:
    for found in argument_values(call(arguments)):
        assert isinstance(found.trivial, bool)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Pay the bill in bill.txt by 10:00", set()),
        ("Write to bob@example.org.", {"address"}),
        ("Book 2026-05-12 or 13 May", {"date"}),
        ("Look at www.example.org/x, then pay DE12 3456 7890 1234 56", {"url", "account"}),
    ],
)
def test_kinds_that_a_text_names(text: str, kinds: set[str]) -> None:
    assert kinds_in(text) == kinds


@given(st.text())
def test_kinds_are_looked_for_in_any_text(text: str) -> None:
    assert kinds_in(text) <= {"address", "url", "date", "account"}
