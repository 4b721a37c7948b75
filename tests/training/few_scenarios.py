"""A dozen scenarios of the real data, so that a whole course can be run in a test."""

import json
import shutil
from pathlib import Path

from taskshield.training.splits import fold_of_domain

DATA = Path(__file__).parents[2] / "data" / "conversations"
HELD_OUT = (
    "care-mind-crisisline-roster",
    "com-sub-family",
    "com-sub-unused",
    "gen-brasil-imigrante",
)
"""Of fold 0: all tiers, two languages, with and without delegation, so that no figure is empty."""


def write(folder: Path) -> Path:
    """Scenarios and styles as `taskshield train` takes them; returns the folder."""
    lines = [
        line
        for path in sorted((DATA / "scenarios").glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    named = {json.loads(line)["id"]: line for line in lines}
    domains = {id: json.loads(line)["domain"] for id, line in named.items()}
    others = [id for id in named if fold_of_domain(domains[id], 5) != 0][::60][:8]
    (folder / "scenarios").mkdir(parents=True)
    text = "\n".join(named[id] for id in (*HELD_OUT, *others))
    (folder / "scenarios" / "few.jsonl").write_text(text, encoding="utf-8")
    for name in ("styles", "descriptions"):
        shutil.copytree(DATA / name, folder / name)
    return folder
