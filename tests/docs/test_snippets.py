"""Every snippet of the README and of docs runs from the wheel, with what its page says to install.

A snippet that cannot run here is checked in another way, and the table says why. The lines that
these tests print at the end say how many there are of each kind.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.docs.snippets import table
from tests.docs.snippets.plan import Plan
from tests.docs.snippets.reading import installed_by, snippets_of
from tests.docs.snippets.stage import SnippetFailed, Stage, shown
from tests.packaging.environments import Environment, find_python
from tests.packaging.wheels import ROOT, Wheels, install

MakeEnvironment = Callable[[frozenset[str]], Environment]


@pytest.fixture(scope="session")
def environments(wheels: Wheels, tmp_path_factory: pytest.TempPathFactory) -> MakeEnvironment:
    """Makes environments; all processes of the tests share them."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def make(names: frozenset[str]) -> Environment:
        extras, others = set[str](), list[str]()
        for name in names:
            package, _, more = name.partition("[")
            if package == "taskshield":
                extras.update(more.rstrip("]").split(",") if more else [])
            else:
                others.append(name)
        folder = shared / "-".join(["snippets", *sorted(extras), *sorted(others)])
        with folder.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            made = Environment(folder, wheels)
            if not folder.with_suffix(".done").exists():
                install("venv", "--quiet", "--python", str(find_python()), str(folder))
                needed = [*wheels.requirements(*sorted(extras)), *others]
                constraints = ("--constraint", str(ROOT / "constraints.txt"))
                target = ("--quiet", "--python", str(made.python))
                install("pip", "install", *target, *constraints, *needed)
                folder.with_suffix(".done").touch()
        return made

    return make


@pytest.fixture
def stage_of(environments: MakeEnvironment, tmp_path: Path) -> Iterator[Callable[[str], Stage]]:
    stages = []

    def make(page: str) -> Stage:
        plan = table.PLANS.get(page, Plan())
        environment = environments(installed_by(page) - plan.not_installed | plan.installed)
        stage = Stage(tmp_path / "page", environment)
        stages.append(stage)
        if plan.before is not None:
            plan.before(stage)
        return stage

    yield make
    for stage in stages:
        stage.close()


@pytest.mark.parametrize("page", table.PAGES)
def test_the_snippets_of_a_page(page: str, stage_of: Callable[[str], Stage]) -> None:
    stage = stage_of(page)
    for snippet, step in table.steps(page):
        assert step is not None, f"{snippet.place} has no entry in {table.__name__}"
        try:
            step.do(stage, snippet)
        except SnippetFailed as error:
            raise SnippetFailed(f"{snippet.place}: {error}") from None


def test_the_table_has_every_snippet_once(record_property: Callable[[str, object], None]) -> None:
    assert table.missing() == []
    assert table.unused() == []
    record_property("told", table.report())


def test_snippets_of_every_spelling_are_found() -> None:
    source = (
        "Text:\n\n    a\n\n    b\n\n- a list\n  ```sh\n  c\n  ```\n~~~ json\n    d\n~~~\n"
        "````text\n```\n````\n"
    )
    found = [(each.line, each.language, each.code) for each in snippets_of(source)]
    assert found == [
        (3, "", "a\n\nb\n"),
        (9, "sh", "c\n"),
        (12, "json", "    d\n"),
        (15, "text", "```\n"),
    ]


def test_three_dots_stand_for_anything() -> None:
    assert shown('{"id": "...", "a": 1}', '{"id": "x1",\n "a": 1}\n')
    assert not shown('{"id": "...", "a": 1}', '{"id": "x1", "a": 2}')
    assert not shown("allow", "not allow")
