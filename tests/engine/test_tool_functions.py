"""Python functions as tools: their specs, and their results as text."""

import functools
from collections.abc import Callable
from typing import Annotated, Any

import pytest

from taskshield.core.tools import ToolSpec
from taskshield.engine.tool_functions import as_json, as_text, is_async, spec_of


def test_a_function_is_described_by_its_name_signature_and_docstring() -> None:
    def tool(  # type: ignore[no-untyped-def]
        path: str,
        count: int,
        share: float,
        deep: bool,
        names: list,  # type: ignore[type-arg]
        anything: object,
        maybe: "int | None",
        several: list[int],
        limited: Annotated[int, []],
        untyped,
    ) -> None:
        pass

    types = {
        "path": "string",
        "count": "integer",
        "share": "number",
        "deep": "boolean",
        "names": "array",
        "anything": "string",
        "maybe": "string",
        "several": "string",
        "limited": "string",
        "untyped": "string",
    }
    properties = {name: {"type": kind} for name, kind in types.items()}
    schema = {"type": "object", "properties": properties}
    assert spec_of(functools.partial(tool)).name == "tool"
    assert spec_of(tool) == ToolSpec(name="tool", parameters=schema)
    assert spec_of(tool, "other").name == "other"


def test_a_callable_object_is_named_after_its_class() -> None:
    class Tool:
        def __call__(self) -> None:
            pass

    assert spec_of(Tool()).name == "Tool"


def test_results_are_given_to_the_judge_as_text() -> None:
    assert as_text(None) == ""
    assert as_text("a") == "a"
    assert as_text({"a": "ü"}) == '{"a": "ü"}'


def test_values_that_json_does_not_know_become_their_string_form() -> None:
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    assert as_json({1}) == '"{1}"'
    assert as_json({(1, 2): 3}) == "{(1, 2): 3}"
    assert as_json(nested) == "<list, nested too deeply>"


class AsyncTool:
    async def __call__(self) -> None:
        pass


class SyncTool:
    def __call__(self) -> None:
        pass


async def fetch() -> None:
    pass


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (fetch, True),
        (functools.partial(fetch), True),
        (AsyncTool(), True),
        (SyncTool(), False),
        (print, False),
        (lambda: fetch(), False),
    ],
)
def test_coroutine_functions_and_objects_called_like_them_are_async(
    function: Callable[..., Any], expected: bool
) -> None:
    assert is_async(function) is expected
