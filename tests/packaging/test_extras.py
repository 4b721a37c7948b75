"""Each extra alone, on each Python, from nothing but wheels: does it do what its page promises?

The newest Python, with the newest dependencies, runs all promises of an extra. The oldest Python,
with the lowest dependencies, and those between run one: start, and decide once. With ALL_EXTRAS
set, every cell runs everything.
"""

import os
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.packaging.environments import (
    Environment,
    find_python,
    found_pythons,
    make_environment,
)
from tests.packaging.promises import frameworks, library, servers, tools
from tests.packaging.table import Cell, leave
from tests.packaging.wheels import Wheels

Promise = Callable[[Environment, Path], None]
_FOUND = tuple(found_pythons())
_ALL = bool(os.environ.get("ALL_EXTRAS"))
_NEWEST = _FOUND if _ALL or len(_FOUND) == 1 else _FOUND[1:]


@dataclass(frozen=True)
class Extra:
    """What an extra promises."""

    name: str
    promises: tuple[Promise, ...]
    short: Promise | None = None
    """What runs in columns that do not run everything; by default the first promise."""
    everywhere: bool = True
    """Whether it runs in all columns, or only in the last."""


_HEAVY = (
    Extra("ray", (tools.audit_on_ray,), everywhere=False),
    Extra("train", (tools.train,), everywhere=False),
)
"""Hundreds of megabytes and half a minute each. They run where ALL_EXTRAS is set; elsewhere the
tests of audits and of training run the same with the same packages."""

EXTRAS = (
    Extra("bare", (library.readme, library.check)),
    Extra("openai", (library.openai_judge,)),
    Extra("anthropic", (library.anthropic_judge,)),
    Extra("server", (servers.blocks_an_attack, servers.makes_keys, servers.answers_hooks)),
    Extra("postgres", (servers.keeps_decisions_on_postgres,), short=servers.blocks_on_postgres),
    Extra("otel", (servers.sends_spans,)),
    Extra("langchain", (frameworks.langchain,)),
    Extra("openai-agents", (frameworks.openai_agents,)),
    Extra("pydantic-ai", (frameworks.pydantic_ai,)),
    Extra("google-adk", (frameworks.google_adk,)),
    Extra("mcp", (frameworks.mcp,)),
    Extra("audit", (tools.audit,)),
    Extra("eval", (tools.bench,), short=tools.attacks),
    Extra("docs", (tools.site,), everywhere=False),
    *(_HEAVY if _ALL else ()),
)


@dataclass(frozen=True)
class Column:
    """A version of Python, with the newest or the lowest versions of all packages."""

    python: str
    lowest: bool
    whole: bool
    """Whether all promises run."""

    def __str__(self) -> str:
        return f"{self.python}-{'lowest' if self.lowest else 'newest'}"


COLUMNS = (
    Column(_FOUND[0], lowest=True, whole=_ALL),
    # With the newest versions, the oldest Python runs all other tests.
    *(Column(each, lowest=False, whole=_ALL or each == _FOUND[-1]) for each in _NEWEST),
)
_OWN = Column(
    f"{sys.version_info[0]}.{sys.version_info[1]}", lowest=False, whole=True
)  # whose packages of hundreds of megabytes are there already
CELLS = [
    (extra, column)
    for extra in EXTRAS
    for column in COLUMNS
    if extra.everywhere or column == (_OWN if extra in _HEAVY else COLUMNS[-1])
]


@pytest.mark.parametrize(
    ("extra", "column"),
    [pytest.param(*cell, id=f"{cell[0].name}-{cell[1]}") for cell in CELLS],
)
def test_an_extra_does_what_its_page_promises(
    extra: Extra,
    column: Column,
    wheels: Wheels,
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    promises = extra.promises
    if extra.everywhere and not column.whole:
        promises = (promises[0] if extra.short is None else extra.short,)
    names = " ".join(promise.__name__ for promise in promises)
    began, installed, used = time.monotonic(), 0.0, _processor_s()
    try:
        made = make_environment(
            tmp_path / "env",
            wheels,
            *([] if extra.name == "bare" else [extra.name]),
            python=find_python(column.python),
            lowest=column.lowest,
        )
        installed = time.monotonic() - began
        for promise in promises:
            folder = tmp_path / promise.__name__
            folder.mkdir()
            promise(made, folder)
    finally:
        cell = Cell(
            extra=extra.name,
            column=str(column),
            promises=names,
            install_s=installed,
            run_s=time.monotonic() - began - installed,
            processor_s=_processor_s() - used,
        )
        leave(request, cell)
        shutil.rmtree(tmp_path / "env", ignore_errors=True)


def _processor_s() -> float:
    """Processor time of the processes that ended."""
    used = os.times()
    return used.children_user + used.children_system
