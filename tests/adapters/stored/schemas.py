"""The schemas of the newest format, which only a new format or an optional member may change.

Write them again: `python -m tests.adapters.stored.schemas --write`.
"""

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from taskshield.adapters.stored.cases import POLICY
from taskshield.adapters.stored.documents import NEWEST
from tests.adapters.stored.kinds import NEWEST_FORMAT

FROZEN = Path(__file__).with_name("schemas.json")


def current() -> dict[str, Any]:
    """The newest format and the schema of each kind of document."""
    schemas = {name: each.document.schema() for name, each in NEWEST_FORMAT.items()}
    return {"format": NEWEST, **schemas, "policy": POLICY.schema()}


def text(schemas: Mapping[str, Any]) -> str:
    """As they are in the file."""
    return json.dumps(schemas, indent=1, sort_keys=True) + "\n"


def problems(frozen: object, now: object, path: str = "") -> Iterator[str]:
    """What makes documents of the frozen schema, or readers of it, fail with the new one."""
    if isinstance(frozen, dict) and isinstance(now, dict):
        names = frozen.keys() | now.keys()
        if path.endswith("/properties"):
            names = set(frozen)  # a new member is fine where it is optional: `required` says so
        for name in sorted(names):
            if name not in frozen or name not in now:
                yield f"{path}/{name}"
            else:
                yield from problems(frozen[name], now[name], f"{path}/{name}")
    elif isinstance(frozen, list) and isinstance(now, list) and path.endswith("/anyOf"):
        if len(frozen) != len(now):
            yield path
        for number, (old, new) in enumerate(zip(frozen, now, strict=False)):
            yield from problems(old, new, f"{path}/{number}")
    elif frozen != now:
        yield path


def main() -> None:
    """Compare, and write the file again where that is allowed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    write = parser.parse_args().write
    frozen = json.loads(FROZEN.read_text()) if FROZEN.exists() else {"format": 0}
    found = [] if frozen["format"] < NEWEST else list(problems(frozen, current()))
    if found:
        raise SystemExit(f"These changes need a new format: {', '.join(found)}")
    if write:
        FROZEN.write_text(text(current()))


if __name__ == "__main__":
    main()
