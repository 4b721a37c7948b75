"""Writes docs/settings-reference.md from the code: `python docs/site/settings_page.py`.

Keys, defaults and what is allowed come from the models, the sentences from the strings below the
fields. A test compares the page with what this makes.
"""

import ast
import inspect
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from taskshield.settings import PREFIX, Settings

PAGE = Path(__file__).parents[1] / "settings-reference.md"
_HEAD = """\
# Settings reference

Every setting, written by `docs/site/settings_page.py` from the code. [Settings](settings.md) tells
where they come from and what the responses mean, [risk tiers](concepts/tiers.md) what a tier is.
Below each key is its variable; a variable may hold JSON where the value is a map or a list.
"""
_TITLES = {
    "": "The shield",
    "policy": "Policy",
    "cascade": "Cascade",
    "server": "Server",
    "server.limits": "Limits of the server",
    "server.upstream": "Upstreams of the proxy",
}
_BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "above {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "below {}",
}
_KINDS = {"integer": "whole number", "number": "number", "boolean": "true or false"}


def page() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *_sections(Settings)])


def _sections(section: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """A heading and a table for a section, then the same for those in it."""
    schema = section.model_json_schema()
    sentences = _sentences(section)
    rows, inner = [], []
    for name, field in section.model_fields.items():
        key = f"{prefix}.{name}" if prefix else name
        if inspect.isclass(field.annotation) and issubclass(field.annotation, BaseModel):
            inner.append((field.annotation, key))
            continue
        allowed = _allowed(schema["properties"][name], schema.get("$defs", {}))
        variable = PREFIX + key.upper().replace(".", "__")
        default = _shown(field.get_default())
        rows.append(
            f"| `{key}`<br>`{variable}` | {allowed} | {default} | {_cell(sentences[name])} |"
        )
    yield f"## {_TITLES[prefix]}\n\n{inspect.getdoc(section)}\n"
    yield "| key, variable | value | default | meaning |\n| --- | --- | --- | --- |"
    yield "\n".join([*rows, ""])
    for each, key in inner:
        yield from _sections(each, key)


def _sentences(section: type[BaseModel]) -> dict[str, str]:
    """What stands below each field of a section."""
    (body,) = ast.parse(inspect.getsource(section)).body
    assert isinstance(body, ast.ClassDef)
    said = {}
    for field, below in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
            said[ast.unparse(field.target)] = inspect.cleandoc(ast.literal_eval(below.value))
    return said


def _allowed(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """What a value may be, in words."""
    if schema.get("$ref") == "#/$defs/Tier":
        return "tier"
    if "$ref" in schema:
        return _allowed(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in schema:
        return " or ".join(_allowed(each, definitions) for each in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    match schema["type"]:
        case "null":
            return "`null`"
        case "object":
            keys = _allowed(schema.get("propertyNames", {"type": "string"}), definitions)
            return f"map from {keys} to {_allowed(schema['additionalProperties'], definitions)}"
        case "array":
            return f"list, each a {_allowed(schema['items'], definitions)}"
        case "string":
            return "text, never shown" if schema.get("writeOnly") else "text"
        case kind:
            bounds = (
                text.format(_number(schema[at])) for at, text in _BOUNDS.items() if at in schema
            )
            return ", ".join([_KINDS[kind], *bounds])


def _shown(value: object) -> str:
    """A default as a settings file would have it."""
    if isinstance(value, tuple):
        return "`[]`" if not value else ", ".join(f"`{each.value}`" for each in value)
    if value is None or isinstance(value, bool):
        return f"`{json.dumps(value)}`"
    return f"`{_number(value)}`"


def _number(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) and value.is_integer() else str(value)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
