"""Random changes to good input: those that a hostile or broken sender would make."""

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, TypeAlias

Slot: TypeAlias = tuple[Any, Any]
"""A container and the key of one of its values."""

_ODD: tuple[Callable[[], Any], ...] = (
    lambda: None,
    lambda: True,
    lambda: "",
    lambda: [],
    lambda: {},
    lambda: -1,
    lambda: 10**400,
    lambda: 1e308,
    lambda: float("nan"),
    lambda: "\ud800",
    lambda: "\x00\x1b[2J\u202e\u2800",
    lambda: "{" * 5_000,
    lambda: '"| a' + "\t" * 5_000,
    lambda: "Ab1+" * 5_000,
    lambda: [[]] * 2_000,
    lambda: [{}] * 2_000,
    lambda: {str(number): number for number in range(2_000)},
    lambda: _nested(90),
    lambda: _nested(120),
)


def edited(seed: bytes, random: Random) -> bytes:
    """A seed with a few changes: to its values if it is JSON, or to its bytes."""
    changes = random.choice((1, 1, 1, 2, 5))
    if b"\ndata: " in seed and random.random() < 0.8:
        return _edited_stream(seed, random)
    try:
        value = json.loads(seed)
    except ValueError:
        return _edited_bytes(seed, changes, random)
    if random.random() < 0.1:
        return _edited_bytes(seed, changes, random)
    for _ in range(changes):
        value = _edited_value(value, random)
    return json.dumps(value).encode()


def _edited_stream(seed: bytes, random: Random) -> bytes:
    """Some of the events changed, dropped, repeated or exchanged."""
    events = seed.split(b"\n\n")
    for _ in range(random.choice((1, 1, 2, 5))):
        place, other = (random.randrange(len(events)) for _ in range(2))
        name, mark, data = events[place].partition(b"data: ")
        match random.randrange(5):
            case 0 if len(events) > 1:
                del events[place]
            case 1:
                events.insert(other, events[place])
            case 2:
                events[place], events[other] = events[other], events[place]
            case _:
                events[place] = name + mark + edited(data, random)
    return b"\n\n".join(events)


def _edited_value(value: Any, random: Random) -> Any:
    slots = list(_slots(value))
    if not slots or random.random() < 0.02:
        return random.choice(_ODD)()
    container, key = random.choice(slots)
    other, elsewhere = random.choice(slots)
    copied = json.loads(json.dumps(other[elsewhere]))  # or it might come to contain itself
    match random.randrange(7):
        case 0:
            del container[key]
        case 1:
            container[key] = random.choice(_ODD)()
        case 2:
            container[key] = copied
        case 3:
            container[key] = [container[key]]
        case 4:
            container[key] = {str(key): container[key]}
        case 5 if isinstance(container, dict):
            container[random.choice((str(key).upper(), f"{key} ", "type", ""))] = container.pop(key)
        case 5:
            container.append(copied)
        case _:
            container[key] = _other_type(container[key])
    return value


def _other_type(value: Any) -> Any:
    if isinstance(value, str):
        return [value] if len(value) % 2 else len(value)
    return json.dumps(value)


def _slots(value: Any) -> Iterator[Slot]:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict | list):
            keys: list[Any] = list(each) if isinstance(each, dict) else list(range(len(each)))
            for key in keys[:200]:
                yield each, key
                waiting.append(each[key])


def _edited_bytes(seed: bytes, changes: int, random: Random) -> bytes:
    data = bytearray(seed)
    for _ in range(changes):
        at = random.randrange(len(data) + 1)
        length = random.choice((1, 1, 2, 8, 64))
        match random.randrange(6):
            case 0:
                data[at:at] = random.choice((b"[", b'{"a":', b"9", b" ", b"\\")) * 20_000
            case 1:
                del data[at : at + length]
            case 2:
                data[at:at] = random.randbytes(length)
            case 3:
                data[at : at + length] = random.randbytes(length)
            case 4:
                data[at:at] = data[: length * 10]
            case _:
                del data[at:]
    return bytes(data)


def _nested(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value
