"""Words an attacker's goal, lays it out, and inserts it into a tool's output."""

import json
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from random import Random

from taskshield_lab.training.augmentation.labelled_spans import SpanMarkers, SpanTag, strip_markers
from taskshield_lab.training.sources.scenarios import INJECTION_SLOT, Style

_ONLY_SLOT = re.compile(rf"^[\s>*#|•-]*{re.escape(INJECTION_SLOT)}[\s|]*$")
_SPACED_SLOT = re.compile(rf"(?<=\S) {re.escape(INJECTION_SLOT)}|{re.escape(INJECTION_SLOT)} ?")


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleFillings:
    """What the blanks of a style's template are filled with."""

    user: str
    tool: str
    topic: str


def word_attack(goal: str, style: Style | None, wording: StyleFillings) -> str:
    """The goal in the words of a style; without a style, as it is."""
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
    """As a field of JSON."""
    return f'"note": "{_json_escaped(text)}"'


def as_json_object(text: str) -> str:
    """As an object of JSON."""
    return f'{{"type": "comment", "body": "{_json_escaped(text)}"}}'


def as_html_comment(text: str) -> str:
    """In a comment of HTML."""
    return f"<!-- {text} -->"


def as_hidden_span(text: str) -> str:
    """In markup that styling hides."""
    return f'<span style="display:none">{escape(text, quote=False)}</span>'


def as_quoted_mail(text: str) -> str:
    """As quoted lines of a mail."""
    return "\n".join(f"> {line}" for line in text.split("\n"))


def as_yaml_block(text: str) -> str:
    """As a block of YAML."""
    return "remark: |\n" + textwrap.indent(text, "  ")


def as_table_cell(text: str) -> str:
    """As a row of a Markdown table."""
    return f"| note | {' '.join(text.split())} |"


def as_upper_case(text: str) -> str:
    """In capitals."""
    return text.upper()


def wrapped_at_72(text: str) -> str:
    """In lines as mail programs break them."""
    return _wrapped(text, 72)


def wrapped_at_80(text: str) -> str:
    """In lines as terminals break them."""
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


def lay_out(text: str, rng: Random, *, plain_share: float = 0.6) -> str:
    """The text in a random layout, or as it is."""
    if rng.random() < plain_share:
        return text
    return LAYOUTS[rng.choice(sorted(LAYOUTS))](text)


def insert_payloads(output: str, payloads: list[str], rng: Random) -> str:
    """The output with the payloads in its slots and, if there are too few, elsewhere.

    Slots that are left over are removed.
    """
    holds_json = is_json(output)
    for payload in payloads:
        slots = output.count(INJECTION_SLOT)
        if slots and (holds_json or rng.random() < 0.85):
            number = rng.randrange(slots)
            pieces = output.split(INJECTION_SLOT)
            filling = _json_escaped(payload) if holds_json else _fitting(payload, pieces[number])
            pieces[number : number + 2] = [pieces[number] + filling + pieces[number + 1]]
            output = INJECTION_SLOT.join(pieces)
        elif holds_json:
            output = _with_field(output, payload)
        else:
            output = _between_lines(output, payload, rng)
    return remove_slots(output)


def remove_slots(output: str) -> str:
    """The output without an attack."""
    lines = [line for line in output.split("\n") if not _ONLY_SLOT.match(strip_markers(line))]
    return _SPACED_SLOT.sub("", "\n".join(lines))


def is_json(output: str) -> bool:
    """Whether an output is an object or a list of JSON."""
    if not output.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(output)
    except (ValueError, RecursionError):
        return False
    return True


def mark_payload(goal: str, text: str, attack: int, marks: SpanMarkers[SpanTag]) -> str:
    """The payload with markers around it and around the goal inside it."""
    before, found, after = text.partition(goal)
    inner = (
        before + marks.mark(found, SpanTag(kind="goal", attack=attack)) + after if found else text
    )
    return marks.mark(inner, SpanTag(kind="attack", attack=attack))


def _fitting(payload: str, before: str) -> str:
    """The payload with every line quoted if it goes into a quoted mail."""
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
