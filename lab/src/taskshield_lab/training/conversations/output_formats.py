"""Converts outputs to other formats: JSON, YAML, HTML, Markdown or plain lines."""

import json
from collections.abc import Callable, Mapping
from html import escape
from random import Random

from taskshield.core.messages import Json
from taskshield_lab.training.conversations.injection import is_json


def reformat(text: str, rng: Random) -> str:
    """The output in a random format, or as it is if none fits."""
    if is_json(text):
        return rng.choice(_OF_JSON)(json.loads(text))
    if text.lstrip().startswith("<") or "```" in text:
        return text
    return rng.choice(_OF_TEXT)(text)


def indented(value: Json) -> str:
    """JSON over several lines."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def yaml_lines(value: Json) -> str:
    """YAML as people write it."""
    return "\n".join(_yaml(value, ""))


def plain_lines(value: Json) -> str:
    """One line for each field, with its path."""
    return "\n".join(_flat(value, ""))


def markdown_table(value: Json) -> str:
    """Rows with the same fields as a table; anything else as lines."""
    rows = value if isinstance(value, list) else [value]
    if not rows or not all(isinstance(row, Mapping) and row for row in rows):
        return plain_lines(value)
    heads = list(dict.fromkeys(key for row in rows if isinstance(row, Mapping) for key in row))
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for row in rows:
        assert isinstance(row, Mapping)
        lines.append(f"| {' | '.join(_cell(row.get(key)) for key in heads)} |")
    return "\n".join(lines)


def html_list(value: Json) -> str:
    """A definition list."""
    items = value if isinstance(value, Mapping) else {"items": value}
    rows = (f"<dt>{escape(key)}</dt><dd>{escape(_cell(one))}</dd>" for key, one in items.items())
    return f"<dl>\n{chr(10).join(rows)}\n</dl>"


def as_content(text: str) -> str:
    """The text as the only field of an object."""
    return json.dumps({"content": text}, ensure_ascii=False)


def as_result(text: str) -> str:
    """The text as a tool server wraps it."""
    value = {"ok": True, "result": {"type": "text", "text": text}, "truncated": False}
    return json.dumps(value, ensure_ascii=False)


def as_list_of_lines(text: str) -> str:
    """Every line as an entry of a list."""
    lines = [line for line in text.split("\n") if line.strip()]
    return json.dumps({"count": len(lines), "lines": lines}, ensure_ascii=False)


def as_yaml_text(text: str) -> str:
    """The text as a block of YAML."""
    return "text: |\n" + "\n".join(f"  {line}" if line else "" for line in text.split("\n"))


def as_html(text: str) -> str:
    """A paragraph for each line."""
    lines = (escape(line, quote=False) for line in text.split("\n") if line.strip())
    return f"<div>\n{chr(10).join(f'<p>{line}</p>' for line in lines)}\n</div>"


def as_numbered(text: str) -> str:
    """Lines with their numbers, as file readers show them."""
    return "\n".join(f"{number:>4}  {line}" for number, line in enumerate(text.split("\n"), 1))


def as_fenced(text: str) -> str:
    """The text in a block of Markdown."""
    return f"```\n{text}\n```"


_OF_JSON: tuple[Callable[[Json], str], ...] = (
    indented,
    yaml_lines,
    plain_lines,
    markdown_table,
    html_list,
)
_OF_TEXT: tuple[Callable[[str], str], ...] = (
    as_content,
    as_result,
    as_list_of_lines,
    as_yaml_text,
    as_html,
    as_numbered,
    as_fenced,
)


def _scalar(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _cell(value: Json) -> str:
    return " ".join(_scalar(value).split())


def _yaml(value: Json, margin: str) -> list[str]:
    if isinstance(value, Mapping):
        lines = []
        for key, one in value.items():
            if isinstance(one, Mapping | list) and one:
                lines += [f"{margin}{key}:", *_yaml(one, margin + "  ")]
            else:
                lines.append(f"{margin}{key}: {_cell(one)}")
        return lines
    if isinstance(value, list):
        lines = []
        for one in value:
            first, *rest = _yaml(one, margin + "  ") or [margin + "  {}"]
            lines += [f"{margin}- {first.strip()}", *rest]
        return lines
    return [margin + _cell(value)]


def _flat(value: Json, path: str) -> list[str]:
    if isinstance(value, Mapping):
        inner = [(f"{path}.{key}" if path else key, one) for key, one in value.items()]
    elif isinstance(value, list):
        inner = [(f"{path}[{number}]", one) for number, one in enumerate(value)]
    else:
        return [f"{path}: {_cell(value)}"]
    return [line for name, one in inner for line in _flat(one, name)]
