import json
from copy import deepcopy
from typing import Any

import pytest

from tests.adapters.stored.schemas import FROZEN, current, problems, text

FROZEN_SCHEMAS = json.loads(FROZEN.read_text())


def test_the_newest_format_changes_only_by_optional_members() -> None:
    assert list(problems(FROZEN_SCHEMAS, current())) == []


def test_the_schemas_are_those_of_the_code() -> None:
    """If this alone fails: `python -m tests.adapters.stored.schemas --write`."""
    assert FROZEN.read_text() == text(current())


def changed(*path: str, to: Any) -> Any:
    schemas = deepcopy(FROZEN_SCHEMAS)
    inner = schemas
    for step in path[:-1]:
        inner = inner[step]
    if to is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = to
    return schemas


def test_an_optional_member_needs_no_new_format() -> None:
    added = changed("case", "properties", "new", to={"type": "string"})
    assert list(problems(FROZEN_SCHEMAS, added)) == []


@pytest.mark.parametrize(
    ("path", "to"),
    [
        (("case", "properties", "index"), None),
        (("case", "properties", "index", "type"), "string"),
        (("case", "required"), ["version", "id"]),
        (("case", "properties", "check", "enum"), ["executed", "skipped", "failed", "new"]),
        (("case", "properties", "tasks", "properties", "tasks"), None),
        (("case", "properties", "outage", "anyOf"), [{"type": "null"}]),
        (("turn",), None),
        (("new",), {"type": "object"}),
    ],
)
def test_any_other_change_needs_a_new_format(path: tuple[str, ...], to: Any) -> None:
    assert list(problems(FROZEN_SCHEMAS, changed(*path, to=to)))
