"""The public API as a table of names and signatures, which `test_public_api.py` compares.

A release that changes it rewrites the table: `python -m tests.public_api --write`.
"""

import argparse
import ast
import dataclasses
import difflib
import importlib
import inspect
import json
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
CONTRACT = Path(__file__).parent / "public_api.json"
MODULES = ("taskshield", "taskshield.errors", "taskshield.plugins")
INTEGRATIONS = ("google_adk", "langchain", "mcp", "openai_agents", "pydantic_ai")

MADE_BY_SHIELDS = ("AsyncSession", "Session")
"""Classes whose constructors are private."""

Api = Mapping[str, str]
"""From a dotted name to its signature."""


def public_names(module: str) -> list[str]:
    """What a public module exports."""
    return list(importlib.import_module(module).__all__)


def integration_names(name: str) -> list[str]:
    """What an integration exports, read from its source: its framework need not be installed."""
    place = ROOT / "src" / "taskshield" / "integrations" / name
    source = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    for node in ast.parse(source.read_text(encoding="utf-8")).body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                return list(ast.literal_eval(value))
    raise AssertionError(f"{source} has no __all__")


def current_api() -> Api:
    """The public API of this checkout."""
    api: dict[str, str] = {}
    for module in MODULES:
        for name in public_names(module):
            api.update(described(f"{module}.{name}", vars(importlib.import_module(module))[name]))
    for integration in INTEGRATIONS:
        for name in integration_names(integration):
            api[f"taskshield.integrations.{integration}.{name}"] = "a name of an integration"
    return dict(sorted(api.items()))


def recorded_api() -> Api:
    """The public API as the contract has it."""
    recorded: Api = json.loads(CONTRACT.read_text(encoding="utf-8"))
    return recorded


def difference(recorded: Api, current: Api) -> str:
    """What changed, one line for each name that was removed (-), added (+) or changed (both)."""
    before, now = ([f"{name}: {text}" for name, text in api.items()] for api in (recorded, current))
    changed = difflib.unified_diff(before, now, CONTRACT.name, "this checkout", n=0, lineterm="")
    return "\n".join(line for line in changed if not line.startswith("@@"))


def described(name: str, value: object) -> Iterator[tuple[str, str]]:
    """A public object and its public members, each with its signature."""
    if not inspect.isclass(value):
        yield name, spelled(type(value))
        return
    bases = ", ".join(base.__name__ for base in value.__bases__ if _is_public_base(base))
    yield name, f"class({bases})" if bases else "class"
    if issubclass(value, Enum):
        yield from ((f"{name}.{member.name}", repr(member.value)) for member in value)
    yield from _fields(name, value)
    for member, found in _members(value):
        yield f"{name}.{member}", _member(found)


def _fields(name: str, owner: type) -> Iterator[tuple[str, str]]:
    """The fields of a dataclass, and class attributes that state their type."""
    fields = {field.name: field for field in dataclasses.fields(owner)} if _is_data(owner) else {}
    for cls in reversed(_own_classes(owner)):
        for member, annotation in inspect.get_annotations(cls).items():
            if member.startswith("_"):
                continue
            text = spelled(annotation)
            if member in fields:
                yield f"{name}.{member}", f"field: {text}{_default(fields[member])}"
            elif member in vars(cls):
                yield f"{name}.{member}", f"attribute: {text} = {vars(cls)[member]!r}"


def _members(owner: type) -> Iterator[tuple[str, object]]:
    """Public methods and properties, inherited ones of taskshield too, and the constructor."""
    found: dict[str, object] = {}
    for cls in reversed(_own_classes(owner)):
        found.update(vars(cls))
    for member, value in sorted(found.items()):
        special = member in ("__iter__", "__len__", "__enter__", "__aenter__")
        public = not member.startswith("_") or special
        if member == "__init__":
            public = _has_public_constructor(owner)
        if public and (inspect.isroutine(value) or isinstance(value, property)):
            yield member, value


def _has_public_constructor(owner: type) -> bool:
    """Whether there is one to record: that of a dataclass follows from its fields."""
    protocol = getattr(owner, "_is_protocol", False)
    return not (_is_data(owner) or protocol or owner.__name__ in MADE_BY_SHIELDS)


def _is_public_base(base: type) -> bool:
    ours = base.__module__.split(".")[0] == "taskshield"
    return base is not object and (not ours or base.__name__ in _exported())


@cache
def _exported() -> frozenset[str]:
    return frozenset(name for module in MODULES for name in public_names(module))


def _own_classes(owner: type) -> list[type]:
    ours = [cls for cls in owner.__mro__ if cls.__module__.split(".")[0] == "taskshield"]
    return ours if not issubclass(owner, Enum) else ours[:1]


def _member(value: object) -> str:
    if isinstance(value, property):
        assert value.fget is not None
        return f"property -> {spelled(inspect.signature(value.fget).return_annotation)}"
    assert callable(value)
    kind = "async def" if inspect.iscoroutinefunction(value) else "def"
    return f"{kind} {_signature(value)}"


def _signature(function: Callable[..., object]) -> str:
    signature = inspect.signature(function)
    pieces: list[str] = []
    keyword_only = False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            keyword_only = True
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            pieces.append("*")
        pieces.append(_parameter(parameter))
    return f"({', '.join(pieces)}) -> {spelled(signature.return_annotation)}"


def _parameter(parameter: inspect.Parameter) -> str:
    text = parameter.name
    if parameter.kind is parameter.VAR_POSITIONAL:
        text = f"*{text}"
    if parameter.kind is parameter.VAR_KEYWORD:
        text = f"**{text}"
    if parameter.annotation is not parameter.empty:
        text += f": {spelled(parameter.annotation)}"
    return text if parameter.default is parameter.empty else f"{text} = {parameter.default!r}"


def _default(field: "dataclasses.Field[object]") -> str:
    if field.default is not dataclasses.MISSING:
        return f" = {field.default!r}"
    if field.default_factory is not dataclasses.MISSING:
        return f" = {field.default_factory()!r}"
    return ""


def _is_data(owner: type) -> bool:
    return dataclasses.is_dataclass(owner)


def spelled(annotation: object) -> str:
    """An annotation as one would write it, the same with every release of Python."""
    if annotation is None or annotation is type(None) or annotation is inspect.Signature.empty:
        return "None"
    if isinstance(annotation, str):
        return annotation
    if isinstance(annotation, typing.ForwardRef):
        return annotation.__forward_arg__
    if isinstance(annotation, list):
        return f"[{', '.join(spelled(each) for each in annotation)}]"
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return " | ".join(spelled(argument) for argument in arguments)
    if origin is typing.Literal:
        return f"Literal[{', '.join(repr(argument) for argument in arguments)}]"
    if arguments:
        return f"{spelled(origin)}[{', '.join(spelled(argument) for argument in arguments)}]"
    if annotation is ...:
        return "..."
    return str(getattr(annotation, "__name__", annotation))


def main() -> int:
    """Print what changed; with --write, make it the contract."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="rewrite the contract (a release)")
    wanted = parser.parse_args()
    current = current_api()
    if CONTRACT.exists():
        print(difference(recorded_api(), current) or "The public API is as recorded.")
    if wanted.write:
        CONTRACT.write_text(json.dumps(current, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
