"""The public API is what the contract says, and what docs/public-api.md documents."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.public_api import (
    CONTRACT,
    INTEGRATIONS,
    MODULES,
    ROOT,
    current_api,
    difference,
    integration_names,
    public_names,
    recorded_api,
)

PAGE = (ROOT / "docs" / "public-api.md").read_text(encoding="utf-8")
GIVEN = {"Case", "Counters", "Outage", "SessionState", "Settings"}
"""Types that users are given and do not make; the page lists their public attributes."""
FOREIGN = {
    *("Annotations", "Any", "Awaitable", "Callable", "Decision", "Enum", "Exception", "Generic"),
    *("Iterable", "Iterator", "Json", "Literal", "Mapping", "None", "PathLike", "Protocol", "Self"),
    *("Sequence", "T", "datetime", "timedelta"),
}
"""Names in signatures that are Python's own."""


def test_the_public_api_is_the_recorded_one() -> None:
    changes = difference(recorded_api(), current_api())
    if changes:
        pytest.fail(
            f"The public API has changed:\n\n{changes}\n\n"
            "Undo this, or follow the rule in docs/public-api.md and then run"
            " `python -m tests.public_api --write`.",
            pytrace=False,
        )


def test_a_change_is_shown_line_by_line() -> None:
    recorded = {"a.kept": "str", "a.lost": "str", "a.changed": "def (self) -> int"}
    current = {"a.kept": "str", "a.changed": "def (self) -> str", "a.new": "str"}
    assert difference(recorded, current).splitlines()[2:] == [
        "-a.lost: str",
        "-a.changed: def (self) -> int",
        "+a.changed: def (self) -> str",
        "+a.new: str",
    ]
    assert difference(recorded, dict(recorded)) == ""


def test_the_top_level_has_sixteen_names() -> None:
    assert len(public_names("taskshield")) == 16


@pytest.mark.parametrize("module", MODULES)
def test_exports_are_sorted_and_complete(module: str) -> None:
    names = public_names(module)
    assert names == sorted(names)
    source = Path(sys.modules[module].__file__ or "").read_text(encoding="utf-8")
    imported = re.findall(r"^    (\w+),$|import ([A-Z_][\w, ]*)$", source, re.MULTILINE)
    found = {name for pair in imported for name in re.findall(r"\w+", " ".join(pair))}
    assert found == set(names)


def test_a_name_in_a_public_signature_is_public() -> None:
    public = {name for module in MODULES for name in public_names(module)}
    spelled = " ".join(re.sub(r"'[^']*'| = .*", "", text) for text in recorded_api().values())
    mentioned = set(re.findall(r"\b[A-Z]\w*", spelled))
    assert mentioned - public - FOREIGN == GIVEN


@pytest.mark.parametrize("module", MODULES)
def test_the_page_documents_each_public_name(module: str) -> None:
    _, _, section = PAGE.partition(f"## `{module}`\n")
    section = section.partition("\n## ")[0]
    documented = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    assert sorted(documented) == public_names(module)


@pytest.mark.parametrize("integration", INTEGRATIONS)
def test_the_page_documents_the_names_of_each_integration(integration: str) -> None:
    (row,) = re.findall(rf"^\| `taskshield\.integrations\.{integration}` \|(.*)\|$", PAGE, re.M)
    assert sorted(re.findall(r"`(\w+)`", row)) == sorted(integration_names(integration))


def test_each_type_that_users_are_given_is_on_the_page() -> None:
    assert all(f"| `{name}` |" in PAGE for name in GIVEN)


def test_the_command_that_rewrites_the_contract_finds_no_change() -> None:
    before = CONTRACT.read_text(encoding="utf-8")
    command = [sys.executable, "-m", "tests.public_api"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "The public API is as recorded.\n"
    assert CONTRACT.read_text(encoding="utf-8") == before
