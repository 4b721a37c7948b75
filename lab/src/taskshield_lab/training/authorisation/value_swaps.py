"""Calls with one value that no one meant: a sibling's, another amount, another person's."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Any

from taskshield.core.messages import ToolCall
from taskshield.judges.embedded.evidence.argument_values import argument_values

_SIGNED = re.compile(r"[\w.+@/:#-]*\d[\w.+@/:#-]*|[\w.+-]+@[\w.-]+")
"""What looks like an id, an address or a number."""
_AMOUNT = re.compile(r"-?\d{1,9}(?:\.\d{1,2})?")
_MOST = 2
_REMEMBERED = 500


class OtherPeople:
    """Names and addresses of other conversations of the same source.

    A fixed list of names would be learned: a network that was trained on ten of them
    caught 99 % of these calls, and no others.
    """

    def __init__(self) -> None:
        self._seen: dict[bool, dict[str, None]] = {True: {}, False: {}}

    def add(self, texts: Iterable[str]) -> None:
        """Remember the names and addresses among these values."""
        for text in texts:
            if "@" in text or _is_name(text):
                seen = self._seen["@" in text]
                seen[text] = None
                if len(seen) > _REMEMBERED:
                    del seen[next(iter(seen))]

    def like(self, text: str, known: str, rng: Random) -> str | None:
        """Another name or address, which is not in the text of this conversation."""
        others = [one for one in self._seen["@" in text] if one != text and one not in known]
        return rng.choice(others) if others else None


def swapped_calls(
    call: ToolCall, said: str, outputs: Sequence[str], people: OtherPeople, rng: Random
) -> Iterator[tuple[str, ToolCall]]:
    """A few calls that differ in one value, each with the kind of the change."""
    values = [one for one in argument_values(call)[:9] if not one.trivial and len(one.text) <= 80]
    people.add(one.text for one in values)
    rng.shuffle(values)
    found = 0
    for one in values:
        changed = _changed(one.text, said, outputs, people, rng)
        if changed is None:
            continue
        kind, text = changed
        arguments = _replaced(call.arguments, one.text, text)
        if arguments is not None:
            found += 1
            yield kind, ToolCall(id=call.id, name=call.name, arguments=arguments)
        if found == _MOST:
            return


def _changed(
    text: str, said: str, outputs: Sequence[str], people: OtherPeople, rng: Random
) -> tuple[str, str] | None:
    """The kind of the change and the new value; None where nothing certain can be said."""
    if _SIGNED.fullmatch(text):
        siblings = {
            other
            for output in outputs[-4:]
            for other in _SIGNED.findall(output)
            if other != text and _shape(other) == _shape(text) and other not in said
        }
        if siblings and (text in said or any(text in output for output in outputs)):
            return "sibling", rng.choice(sorted(siblings))
    if text not in said:
        return None  # the agent may have had to find it
    if "@" in text or _is_name(text):
        other = people.like(text, " ".join((said, *outputs)), rng)
        return None if other is None else ("other person", other)
    if _AMOUNT.fullmatch(text) and float(text) > 1:
        return "amount", _other_amount(text, rng)
    if _SIGNED.fullmatch(text):
        return "other id", re.sub(r"\d", lambda _: str(rng.randrange(10)), text)
    return None


def _is_name(text: str) -> bool:
    return text.istitle() and len(text.split()) <= 3


def _shape(text: str) -> str:
    return re.sub(r"[A-Za-z]", "a", re.sub(r"\d", "0", text))


def _other_amount(text: str, rng: Random) -> str:
    number = float(text)
    factor = rng.choice((10, 0.1, 2, 5, 1.5, 3, 0.5))
    changed = number * factor if rng.random() < 0.7 else number + rng.choice((5, 20, 50, 100))
    return f"{changed:.2f}" if "." in text else str(max(2, round(changed)))


def _replaced(arguments: str, old: str, new: str) -> str | None:
    """The arguments with another value; None where they are no JSON or nothing changed."""
    try:
        parsed = json.loads(arguments)
    except ValueError:
        return None
    changed = json.dumps(_with(parsed, old, new), ensure_ascii=False)
    return None if changed == json.dumps(parsed, ensure_ascii=False) else changed


def _with(value: Any, old: str, new: str) -> Any:
    if isinstance(value, dict):
        return {key: _with(inner, old, new) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with(inner, old, new) for inner in value]
    if isinstance(value, str):
        return new if value == old else value
    if not isinstance(value, bool) and value is not None and json.dumps(value) == old:
        try:
            return json.loads(new)
        except ValueError:
            return new
    return value
