"""A dozen scenarios and four openings of the real data, for a whole training run in a test."""

import json
import shutil
from pathlib import Path

from taskshield_lab.training.sources.splits import fold_of_domain

DATA = Path(__file__).parents[3] / "lab" / "data" / "training"
HELD_OUT = (
    "care-mind-crisisline-roster",
    "com-sub-family",
    "com-sub-unused",
    "gen-brasil-imigrante",
)
"""Of fold 0: all tiers, two languages, with and without delegation, so that no figure is empty."""


OPENED = ("benches-01", "benches-02", "counters-01", "counters-02")
"""Openings."""
OPENED_HELD_OUT = ("benches-02", "counters-01")
"""Those of fold 0."""
PREDICTED = {*HELD_OUT, *OPENED_HELD_OUT}
"""What fold 0 predicts."""


def write(folder: Path) -> Path:
    """Scenarios and all else that `taskshield train` takes; returns the folder."""
    named = _lines("scenarios")
    domains = {id: json.loads(line)["domain"] for id, line in named.items()}
    others = [id for id in named if fold_of_domain(domains[id], 5) != 0][::60][:8]
    _write(folder / "scenarios", [named[id] for id in (*HELD_OUT, *others)])
    openings = _lines("openings")
    _write(folder / "openings", [openings[id] for id in OPENED])
    shutil.copytree(DATA / "styles", folder / "styles")
    for path in (DATA / "descriptions").glob("*.jsonl"):  # each is repeated five times: too many
        definitions = path.read_text(encoding="utf-8").splitlines()[::8]
        _write(folder / "descriptions", definitions, path.name)
    return folder


def _lines(name: str) -> dict[str, str]:
    paths = sorted((DATA / name).glob("*.jsonl"))
    lines = [line for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    return {json.loads(line)["id"]: line for line in lines}


def _write(folder: Path, lines: list[str], name: str = "few.jsonl") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("\n".join(lines), encoding="utf-8")
