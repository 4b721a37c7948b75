"""Tool definitions, as OpenAI and Anthropic requests and MCP servers give them."""

from collections.abc import Iterable

from taskshield.adapters.parsing.json_reader import Field
from taskshield.core.tools import ToolAnnotations, ToolSpec

_NAMED = ("function", "custom")
"""Types whose tools always have a name. Built-in tools of a provider may go without."""


def read(fields: Iterable[Field]) -> tuple[ToolSpec, ...]:
    """The tools that have a name. A call cannot refer to one without."""
    specs = (_spec(field) for field in fields)
    return tuple(spec for spec in specs if spec is not None)


def _spec(field: Field) -> ToolSpec | None:
    kind = field["type"].text_or("function")
    nested = field[kind]
    body = nested if isinstance(nested.value, dict) else field
    if not body["name"].given and kind not in _NAMED:
        return None
    schemas = (body[key] for key in ("parameters", "input_schema", "inputSchema"))
    schema = next((schema for schema in schemas if schema.given), body["parameters"])
    hints = body["annotations"] if body["annotations"].given else field["annotations"]
    return ToolSpec(
        name=body["name"].text(),
        description=body["description"].text_or(""),
        parameters=schema.mapping() if schema.given else {},
        annotations=_annotations(hints) if hints.given else ToolAnnotations(),
    )


def _annotations(hints: Field) -> ToolAnnotations:
    return ToolAnnotations(
        read_only=hints["readOnlyHint"].flag(),
        destructive=hints["destructiveHint"].flag(),
        idempotent=hints["idempotentHint"].flag(),
        open_world=hints["openWorldHint"].flag(),
    )
