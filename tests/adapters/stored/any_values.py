"""Any value of a class of stored values, for property tests."""

import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from types import NoneType, UnionType
from typing import Any

from hypothesis import strategies as st

from taskshield.core.instructions import Instruction, Objective, Task
from taskshield.core.levels import Level


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
