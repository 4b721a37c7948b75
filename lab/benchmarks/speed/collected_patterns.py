"""Every pattern of taskshield: those of its modules, and those written where they are used."""

import ast
import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import taskshield

_CALLS = {"compile", "search", "match", "fullmatch", "findall", "finditer", "sub", "subn", "split"}


def patterns() -> dict[str, re.Pattern[Any]]:
    """All patterns by where they stand."""
    found: dict[str, re.Pattern[Any]] = {}
    seen: set[re.Pattern[Any]] = set()
    for module in _modules():
        for name, pattern in (*_held(module), *_inline(module)):
            if pattern not in seen:
                seen.add(pattern)
                found[f"{module.__name__}.{name}"] = pattern
    return found


def _modules() -> list[ModuleType]:
    for info in pkgutil.walk_packages(taskshield.__path__, "taskshield.", onerror=lambda _: None):
        if info.name.endswith("__main__") or ".migrations" in info.name:
            continue  # they act when they are imported
        try:
            importlib.import_module(info.name)
        except ImportError:  # the framework that it integrates is not installed
            continue
    names = sorted(name for name in sys.modules if name.split(".")[0] == "taskshield")
    return [sys.modules[name] for name in names]


def _held(module: ModuleType) -> Iterator[tuple[str, re.Pattern[Any]]]:
    """Patterns in a module's variables, also within tuples, dicts and cached functions."""
    for name, value in vars(module).items():
        yield from _within(name, value, 0)


def _within(name: str, value: object, depth: int) -> Iterator[tuple[str, re.Pattern[Any]]]:
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
    path = getattr(module, "__file__", None)
    if path is None:
        return
    with open(path, encoding="utf-8") as source:
        tree = ast.parse(source.read())
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr in _CALLS
        ):
            flags = next((one.value for one in node.keywords if one.arg == "flags"), None)
            places = {"compile": 1, "split": 3, "sub": 4, "subn": 4}.get(node.func.attr, 2)
            flags = node.args[places] if len(node.args) > places else flags
            try:
                made = eval(compile(ast.Expression(node.args[0]), path, "eval"), vars(module))
                set_ = (
                    0
                    if flags is None
                    else eval(compile(ast.Expression(flags), path, "eval"), vars(module))
                )
            except NameError:  # made of an argument
                continue
            yield f"line {node.lineno}", re.compile(made, set_)
