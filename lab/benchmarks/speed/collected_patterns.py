"""Every pattern of taskshield: those of its modules, and those written where they are used.

A pattern that is made while texts are read has examples here.
"""

import ast
import importlib
import re
from collections.abc import Iterator, Mapping
from functools import _lru_cache_wrapper
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import taskshield

MADE_LATER: Mapping[str, tuple[str, ...]] = {
    "taskshield.engine.definition_values": (r"(?<!\w)aa\-aa(?!\w)", r"(?<!\w)a\ a\ a(?!\w)"),
    "taskshield.engine.own_resources.addresses": (r"(?<![\w.])8787(?!\w|\.\d)",),
    "taskshield.engine.risk_tiers": (r"text\W",),
    "taskshield.engine.shell.unasked_uploads": (r"(?<![\w-])a\.a\.a(?![\w-])",),
}
"""By module: patterns like those that it makes of values."""
SOURCES = Path(taskshield.__file__).parents[1]
_CALLS = {"compile", "search", "match", "fullmatch", "findall", "finditer", "sub", "subn", "split"}


class Collected(NamedTuple):
    """A pattern, and the file in which it is first met."""

    file: str
    """Below `src`."""
    pattern: re.Pattern[Any]


def patterns() -> dict[str, Collected]:
    """All patterns by where they stand."""
    found: dict[str, Collected] = {}
    seen: set[re.Pattern[Any]] = set()
    for module in modules():
        file = Path(str(module.__file__)).relative_to(SOURCES).as_posix()
        made = ((f"made[{n}]", re.compile(one)) for n, one in enumerate(_examples(module)))
        for name, pattern in (*_held(module), *_inline(module), *made):
            if pattern not in seen:
                seen.add(pattern)
                found[f"{module.__name__}.{name}"] = Collected(file, pattern)
    return found


def modules() -> Iterator[ModuleType]:
    """All modules that use patterns. Others are not imported: some bring large packages."""
    for path in sorted(SOURCES.glob("taskshield/**/*.py")):
        if re.search(r"^import re$", path.read_text(encoding="utf-8"), re.MULTILINE):
            name = ".".join(path.relative_to(SOURCES).with_suffix("").parts)
            yield importlib.import_module(name.removesuffix(".__init__"))


def _examples(module: ModuleType) -> tuple[str, ...]:
    return MADE_LATER.get(module.__name__, ())


def _held(module: ModuleType) -> Iterator[tuple[str, re.Pattern[Any]]]:
    """Patterns in a module's variables, also within tuples, dicts and cached functions."""
    for name, value in vars(module).items():
        yield from _within(name, value, 0)


def _within(name: str, value: object, depth: int) -> Iterator[tuple[str, re.Pattern[Any]]]:
    if isinstance(value, _lru_cache_wrapper) and value.__wrapped__.__annotations__ == {
        "return": re.Pattern[str]
    }:
        value = value()
    if isinstance(value, re.Pattern):
        yield name, value
    elif depth < 4 and isinstance(value, dict):
        for key, one in value.items():
            yield from _within(f"{name}[{key!r}]", one, depth + 1)
    elif depth < 4 and isinstance(value, list | tuple | set | frozenset):
        for number, one in enumerate(value):
            yield from _within(f"{name}[{number}]", one, depth + 1)


def _inline(module: ModuleType) -> Iterator[tuple[str, re.Pattern[Any]]]:
    """Patterns given to `re` within functions, where they do not depend on arguments."""
    for lines, pattern in uses(module):
        if pattern is not None:
            yield f"line {lines.start}", pattern


def uses(module: ModuleType) -> Iterator[tuple[range, re.Pattern[Any] | None]]:
    """The lines of each use of `re` and its pattern; None where that is made of other values."""
    path = str(module.__file__)
    for node in ast.walk(ast.parse(Path(path).read_text(encoding="utf-8"))):
        if not (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr in _CALLS
        ):
            continue
        flags = next((one.value for one in node.keywords if one.arg == "flags"), None)
        places = {"compile": 1, "split": 3, "sub": 4, "subn": 4}.get(node.func.attr, 2)
        flags = node.args[places] if len(node.args) > places else flags

        def value(given: ast.expr) -> Any:
            return eval(compile(ast.Expression(given), path, "eval"), vars(module))

        lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
        try:
            made = re.compile(value(node.args[0]), 0 if flags is None else value(flags))
        except NameError:
            yield lines, None
        else:
            yield lines, made
