import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskshield.core.errors import WireFormatError
from taskshield.core.json_limits import (
    Excess,
    JsonLimits,
    JsonTooLarge,
    excess_of,
    is_excessive,
    read_json,
)
from tests.linear import is_linear

JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text('[]{}",\\x', max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text('[{"\\,'), inner, max_size=3)
    ),
    max_leaves=12,
)
MANY = 10**9


def depth(value: object) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


def values(value: object) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(values, value.values()))
    return 1 + sum(map(values, value)) if isinstance(value, list) else 1


def keys(value: object) -> int:
    if isinstance(value, dict):
        return max([len(value), *map(keys, value.values())])
    return max(map(keys, value), default=0) if isinstance(value, list) else 0


def excess(value: object, *, ascii: bool = True, **most: int) -> Excess | None:
    limits = JsonLimits(**{"depth": MANY, "values": MANY, "keys": MANY, **most})
    return excess_of(json.dumps(value, ensure_ascii=ascii).encode(), limits)


@given(JSON, st.booleans(), st.integers(0, 6))
def test_nesting_is_measured_without_parsing(value: object, ascii: bool, limit: int) -> None:
    assert (excess(value, ascii=ascii, depth=limit) == "depth") is (depth(value) > limit)


@given(JSON, st.booleans(), st.integers(1, 12))
def test_values_are_counted_without_parsing(value: object, ascii: bool, limit: int) -> None:
    found = excess(value, ascii=ascii, values=limit)
    assert found == "values" if values(value) > limit else found in ("values", None)
    if 2 * values(value) <= limit:  # an empty list counts twice
        assert found is None


@given(JSON, st.booleans(), st.integers(1, 3))
def test_members_are_counted_without_parsing(value: object, ascii: bool, limit: int) -> None:
    assert (excess(value, ascii=ascii, keys=limit) == "keys") is (keys(value) > limit)


@given(st.text('[]{}",:\\1 ', max_size=30), st.integers(1, 4))
def test_what_the_limits_allow_is_small_or_not_json(text: str, limit: int) -> None:
    limits = JsonLimits(depth=limit, values=limit, keys=limit)
    try:
        read = json.loads(text)
    except ValueError:
        return
    if excess_of(text.encode(), limits) is None:
        assert depth(read) <= limit and keys(read) <= limit and values(read) <= limit


def test_a_string_that_never_ends_hides_nothing() -> None:
    opened = b'["' + b'\\"' * 1_000
    assert excess_of(opened, JsonLimits(depth=1)) is None
    assert excess_of(b"[" * 65 + opened, JsonLimits(depth=64)) == "depth"
    assert excess_of(b"]]" + b"[" * 65 + b'"\\', JsonLimits(depth=64)) == "depth"


@pytest.mark.parametrize(
    "body",
    [
        b'{"messages": [' + b"[]," * 800_000 + b"[]]}",
        b"[" + b'"",' * 800_000 + b'""]',
        b"[" + b'"\\\\",' * 800_000 + b'""]',
        b"[" + b"0," * 800_000 + b"0]",
        b"{" + b'"":0,' * 800_000 + b'"":0}',
    ],
)
def test_a_body_of_a_million_values_is_refused_and_nothing_of_it_is_built(body: bytes) -> None:
    with pytest.raises(JsonTooLarge, match="body: more than 200000 values"):
        read_json(body)


def test_an_error_names_what_there_is_too_much_of() -> None:
    limits = JsonLimits(depth=2, values=100, keys=3)
    with pytest.raises(JsonTooLarge, match="body: nested more than 2 levels deep"):
        read_json("[[[]]]", limits)
    with pytest.raises(JsonTooLarge, match="body: an object with more than 3 members"):
        read_json('{"a": 1, "b": 1, "c": 1, "d": 1}', limits)
    assert read_json('[[{"a": 1, "b": [1, 2, 3, 4]}], "[[[[[["]', JsonLimits(keys=3)) is not None


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[NaN]", b"1" * 10_000, b"[" * 50])
def test_what_is_not_json_is_refused(body: bytes) -> None:
    with pytest.raises(WireFormatError, match="body: JSON in UTF-8 is needed"):
        read_json(body)


def test_text_may_be_read_less_strictly() -> None:
    assert read_json("[Infinity]", strict=False) == [float("inf")]
    assert read_json(b"\xef\xbb\xbf{}") == {}
    assert read_json('"\ud800"') == "\ud800"


def test_a_long_text_is_not_excessive_for_its_length() -> None:
    assert not is_excessive(json.dumps({"text": "[a, b], " * 100_000}))
    assert is_excessive("[" * 200)


@pytest.mark.parametrize("unit", ["[],", '"",', '\\"', "\\\\", '"a', "{", " ", '{"a":1},'])
def test_limits_are_checked_in_linear_time(unit: str) -> None:
    assert is_linear(lambda text: excess_of(text.encode(), JsonLimits()), unit)
