"""Python functions as guarded tools: calls are checked before, results after they run."""

import functools
import inspect
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Protocol

from taskshield.core.decisions import Decision
from taskshield.core.errors import ToolOutputRejected
from taskshield.core.tools import ToolSpec

_JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array"}


class Checks(Protocol):
    """The two checks around the run of a tool."""

    async def tool_call(self, name: str, arguments: Mapping[str, object]) -> Decision:
        """Check the call before it runs."""
        ...

    async def tool_output(self, call_id: str, text: str, *, is_error: bool = False) -> Decision:
        """Check the result before the agent reads it."""
        ...


async def guarded_call(
    checks: Checks,
    name: str,
    arguments: Mapping[str, object],
    run: Callable[[], Awaitable[object]],
    in_clear: Callable[[str], str],
) -> object:
    """Run a tool between its two checks.

    Args:
        checks: The checks.
        name: The tool.
        arguments: What it is called with.
        run: Calls it.
        in_clear: Reads a result that is a text: gives it with its encoded words in the clear.

    Returns:
        The tool's own result, if it passed unchanged and is plain JSON data. Otherwise a text for
        the agent: the feedback on a blocked call, the annotated or redacted output, or for other
        objects the text that was checked.

    Raises:
        ToolOutputRejected: The tool raised, and its error text tried to direct the agent.
    """
    before = await checks.tool_call(name, arguments)
    if not before.allowed:
        return before.content
    call_id = before.calls[0].call.id
    try:
        result = await run()
        if inspect.isawaitable(result):
            result = await result
        if isinstance(result, Iterator):
            result = list(result)
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        failed = await checks.tool_output(call_id, text, is_error=True)
        if failed.content == text:
            raise
        raise ToolOutputRejected(failed.content) from None
    text = in_clear(as_text(result))
    passed = await checks.tool_output(call_id, text)
    # Only the text was checked; an object that is not plain data may say more than its text.
    return result if passed.content == text and _is_plain(result) else passed.content


def is_async(function: Callable[..., Any]) -> bool:
    """Whether a call of it must be awaited; also for objects with an async `__call__`."""
    call = getattr(function, "__call__", None)  # noqa: B004
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def spec_of(function: Callable[..., Any], name: str | None = None) -> ToolSpec:
    """The tool spec from the function's name, signature and docstring."""
    signature = inspect.signature(function)
    properties = {
        parameter.name: {"type": _json_type(parameter.annotation)}
        for parameter in signature.parameters.values()
    }
    documentation = inspect.getdoc(function)
    return ToolSpec(
        name=_name(function) if name is None else name,
        description="" if documentation is None else documentation,
        parameters={"type": "object", "properties": properties},
    )


def arguments_of(
    function: Callable[..., Any], args: tuple[object, ...], kwargs: Mapping[str, object]
) -> Mapping[str, object]:
    """The arguments of a call by name. Raises TypeError where the call itself would."""
    return dict(inspect.signature(function).bind(*args, **kwargs).arguments)


def as_json(value: object) -> str:
    """JSON text of a value; objects that JSON does not know become their string form."""
    try:
        return json.dumps(value, default=str, ensure_ascii=False)
    except (TypeError, ValueError):  # keys that JSON does not allow, or a circular reference
        return str(value)
    except RecursionError:
        return f"<{type(value).__name__}, nested too deeply>"


def as_text(result: object) -> str:
    """A tool's result as the agent would read it."""
    if result is None:
        return ""
    return result if isinstance(result, str) else as_json(result)


def _json_type(annotation: object) -> str:
    return _JSON_TYPES.get(annotation, "string") if isinstance(annotation, type) else "string"


def _is_plain(value: object) -> bool:
    """Whether the value is the same after a round trip through JSON."""
    try:
        return value is None or bool(json.loads(json.dumps(value)) == value)
    except (TypeError, ValueError, RecursionError):
        return False


def _name(function: Callable[..., Any]) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))
