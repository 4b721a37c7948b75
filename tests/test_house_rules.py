"""Rules of the house that no other tool checks."""

import ast
import dataclasses
import importlib
import inspect
import pkgutil
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

import taskshield
from taskshield.settings import Settings

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "taskshield"
MODULES = sorted(
    module.name.removeprefix("taskshield.")
    for module in pkgutil.walk_packages(taskshield.__path__, "taskshield.")
    if not module.ispkg and module.name != "taskshield._version"
)


def test_all_is_sorted_and_complete() -> None:
    assert taskshield.__all__ == sorted(taskshield.__all__)
    public = {
        name
        for name, value in vars(taskshield).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }
    assert public | {"__version__"} == set(taskshield.__all__)
    assert len((SOURCE / "__init__.py").read_text().splitlines()) <= 60


def test_importing_the_package_loads_no_heavy_module() -> None:
    heavy = "openai anthropic onnxruntime starlette torch httpx pydantic yaml rich".split()
    code = f"import sys, taskshield; print([m for m in {heavy!r} if m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert loaded.stdout.strip() == b"[]"


def test_the_architecture_names_every_module_once() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    assert sorted(re.findall(r"^- `([\w.]+)`: .+", text, re.MULTILINE)) == MODULES


def test_every_setting_is_documented() -> None:
    text = (ROOT / "docs" / "settings.md").read_text()
    documented = set(re.findall(r"^\| `([\w.]+)` \|", text, re.MULTILINE))
    assert documented == set(keys(Settings))


def keys(section: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """All keys of a section, and of the sections in it."""
    for name, field in section.model_fields.items():
        yield f"{prefix}{name}"
        inner = field.annotation
        if inspect.isclass(inner) and issubclass(inner, BaseModel):
            yield from keys(inner, f"{prefix}{name}.")


def test_every_error_stands_in_the_tree() -> None:
    from taskshield.core import errors

    tree = str(errors.__doc__)
    names = [name for name, value in vars(errors).items() if inspect.isclass(value)]
    own = [name for name in names if vars(errors)[name].__module__ == errors.__name__]
    assert own and all(re.search(rf"\b{name}\b", tree) for name in own)


@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith("core.")])
def test_core_dataclasses_are_frozen_slotted_and_keyword_only(name: str) -> None:
    module = importlib.import_module(f"taskshield.{name}")
    for value in vars(module).values():
        if dataclasses.is_dataclass(value) and inspect.isclass(value):
            assert value.__dataclass_params__.frozen, value  # type: ignore[attr-defined]
            assert "__slots__" in vars(value), value
            assert all(field.kw_only for field in dataclasses.fields(value)), value


PACKAGES = (SOURCE, ROOT / "lab" / "src" / "taskshield_lab")
FILES = sorted(path for package in PACKAGES for path in package.rglob("*.py"))
SCRIPTS = sorted(
    path
    for folder in ("docs/site", "lab/benchmarks", "tools")
    for path in (ROOT / folder).rglob("*.py")
    if path.name != "__init__.py"
)


def docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text())) or ""


def lines(path: Path) -> int:
    return len(path.read_text().splitlines())


@pytest.mark.parametrize(
    "path", [*FILES, *SCRIPTS], ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_a_module_says_what_it_owns_and_why_it_is_long(path: Path) -> None:
    assert docstring(path)
    assert lines(path) <= 400
    if lines(path) > 300:
        assert re.search(r"module is long because|over 300 lines", docstring(path), re.IGNORECASE)


def test_the_median_module_is_short() -> None:
    modules = [lines(path) for path in FILES if path.name != "__init__.py"]
    assert statistics.median(modules) < 120


def test_a_folder_of_many_modules_says_why() -> None:
    folders = {path.parent for path in FILES}
    for folder in folders:
        modules = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
        if len(modules) > 12:
            assert "modules" in docstring(folder / "__init__.py"), folder


def test_only_init_files_reexport_and_nothing_inside_imports_the_facade() -> None:
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        facade = r"^(from taskshield import|(from|import) taskshield\.(errors|plugins)\b)"
        assert not re.search(facade, text, re.MULTILINE), path


def test_every_prompt_file_is_in_use() -> None:
    from taskshield.judges.llm.prompt_files import VERSIONS

    files = {path.name for path in (SOURCE / "judges" / "llm" / "prompts").iterdir()}
    assert {f"{part}.v{version}.md" for part, version in VERSIONS.items()} <= files


def test_the_changelog_has_a_place_for_what_comes_next() -> None:
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "Unreleased"


@pytest.mark.parametrize("path", ["README.md", "SECURITY.md", "CONTRIBUTING.md"])
def test_links_between_documents_have_targets(path: str) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / path).read_text()):
        assert (ROOT / target).exists(), target
