"""Shapes of keys that begin with a prefix of their issuer, read from key_shapes.tsv.

Owns the table and the one pattern that finds them all. What is secret for other reasons (its name,
its place in a URL) is in patterns.py.
"""

import csv
import re
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

_TABLE = Path(__file__).with_name("key_shapes.tsv")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyShape:
    """How the keys of one kind look."""

    id: str
    """The issuer and the kind of key."""
    prefix: str
    """The characters that every such key begins with."""
    pattern: str
    """What follows the prefix, as a regular expression that runs in linear time."""


def key_shapes() -> list[KeyShape]:
    """The rows of the table, in its order."""
    with _TABLE.open(encoding="utf-8", newline="") as lines:
        table = (line for line in lines if not line.startswith("#"))
        rows = csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [KeyShape(**row) for row in rows]


@cache
def key_pattern() -> re.Pattern[str]:
    """Finds a key of any shape.

    The character before a key must not be one that keys are made of. This also keeps a long run of
    such characters from being matched again at each of them.
    """
    rests = sorted((shape.prefix, shape.pattern) for shape in key_shapes())
    return re.compile(rf"(?<![A-Za-z0-9_-]){_tree(rests)}")


def _tree(rests: list[tuple[str, str]]) -> str:
    """One pattern for sorted pairs of a prefix and what follows it.

    Prefixes that begin alike share their beginning, so that most words fail at their first letter.
    """
    branches = [pattern for prefix, pattern in rests if not prefix]
    longer = (rest for rest in rests if rest[0])
    for first, group in groupby(longer, key=lambda rest: rest[0][0]):
        branch = _tree([(prefix[1:], pattern) for prefix, pattern in group])
        branches.append(re.escape(first) + branch)
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"
