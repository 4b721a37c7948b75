"""An attacker's wish put into words, into a layout, and into a tool's output."""

import json
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from random import Random

from taskshield_lab.training.augmentation.labelled_spans import Marks, Tag, without_fences
from taskshield_lab.training.sources.scenarios import PLACE, Style

_ONLY_PLACE = re.compile(rf"^[\s>*#|•-]*{re.escape(PLACE)}[\s|]*$")
_SPACED_PLACE = re.compile(rf"(?<=\S) {re.escape(PLACE)}|{re.escape(PLACE)} ?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What the blanks of a style are filled with."""

    user: str
    tool: str
    topic: str


def worded(goal: str, style: Style | None, wording: Wording) -> str:
    """The wish in the words of a style, or plain."""
    if style is None:
        return goal
    text = style.template
    for blank, filling in (
        ("{user}", wording.user),
        ("{tool}", wording.tool),
        ("{topic}", wording.topic),
        ("{goal}", goal),
    ):
        text = text.replace(blank, filling)
    return text


def as_json_field(text: str) -> str:
    """One field of JSON."""
    return f'"note": "{_json_escaped(text)}"'


def as_json_object(text: str) -> str:
    """A whole object of JSON."""
    return f'{{"type": "comment", "body": "{_json_escaped(text)}"}}'


def as_html_comment(text: str) -> str:
    """Markup that browsers do not show."""
    return f"<!-- {text} -->"


def as_hidden_span(text: str) -> str:
    """Markup that styling hides."""
    return f'<span style="display:none">{escape(text, quote=False)}</span>'


def as_quoted_mail(text: str) -> str:
    """Lines of an answered mail."""
    return "\n".join(f"> {line}" for line in text.split("\n"))


def as_yaml_block(text: str) -> str:
    """A block of YAML."""
    return "remark: |\n" + textwrap.indent(text, "  ")


def as_table_cell(text: str) -> str:
    """A row of a Markdown table."""
    return f"| note | {' '.join(text.split())} |"


def as_upper_case(text: str) -> str:
    """All capitals."""
    return text.upper()


def wrapped_at_72(text: str) -> str:
    """Lines as mail programs break them."""
    return _wrapped(text, 72)


def wrapped_at_80(text: str) -> str:
    """Lines as terminals break them."""
    return _wrapped(text, 80)


LAYOUTS: Mapping[str, Callable[[str], str]] = {
    layout.__name__: layout
    for layout in (
        as_json_field,
        as_json_object,
        as_html_comment,
        as_hidden_span,
        as_quoted_mail,
        as_yaml_block,
        as_table_cell,
        as_upper_case,
        wrapped_at_72,
        wrapped_at_80,
    )
}


def laid_out(text: str, rng: Random, *, plain_share: float = 0.6) -> str:
    """The text in some layout, or as it is."""
    if rng.random() < plain_share:
        return text
    return LAYOUTS[rng.choice(sorted(LAYOUTS))](text)


def placed(output: str, payloads: list[str], rng: Random) -> str:
    """The output with the payloads in it: in its places, and where there are too few, elsewhere.

    Every place that is left over is removed.
    """
    holds_json = is_json(output)
    for payload in payloads:
        places = output.count(PLACE)
        if places and (holds_json or rng.random() < 0.85):
            number = rng.randrange(places)
            pieces = output.split(PLACE)
            filling = _json_escaped(payload) if holds_json else _fitting(payload, pieces[number])
            pieces[number : number + 2] = [pieces[number] + filling + pieces[number + 1]]
            output = PLACE.join(pieces)
        elif holds_json:
            output = _with_field(output, payload)
        else:
            output = _between_lines(output, payload, rng)
    return without_places(output)


def without_places(output: str) -> str:
    """The output as it would be had no outsider written anything."""
    lines = [line for line in output.split("\n") if not _ONLY_PLACE.match(without_fences(line))]
    return _SPACED_PLACE.sub("", "\n".join(lines))


def is_json(output: str) -> bool:
    """Whether an output is an object or a list of JSON."""
    if not output.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(output)
    except (ValueError, RecursionError):
        return False
    return True


def planted(goal: str, text: str, attack: int, marks: Marks[Tag]) -> str:
    """The payload with its own fence and one around the wish inside it."""
    before, found, after = text.partition(goal)
    inner = before + marks.around(found, Tag(kind="goal", attack=attack)) + after if found else text
    return marks.around(inner, Tag(kind="attack", attack=attack))


def _fitting(payload: str, before: str) -> str:
    """Several lines in a quoted mail are all quoted."""
    line = before.rpartition("\n")[2]
    if line.strip() == ">" and "\n" in payload:
        return payload.replace("\n", "\n> ")
    return payload


def _with_field(output: str, payload: str) -> str:
    value = json.loads(output)
    if isinstance(value, dict):
        return json.dumps({**value, "note": payload}, ensure_ascii=False)
    return json.dumps([*value, {"note": payload}], ensure_ascii=False)


def _between_lines(output: str, payload: str, rng: Random) -> str:
    lines = output.split("\n")
    at = rng.choice([0, len(lines), rng.randint(0, len(lines))])
    return "\n".join([*lines[:at], payload, *lines[at:]])


def _json_escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _wrapped(text: str, width: int) -> str:
    return "\n".join(
        "\n".join(textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False))
        for line in text.split("\n")
    )
