"""Figures on sources that the network did not see: AUC, and what a threshold blocks.

`python -m taskshield_lab.training.authorisation.left_out_figures --help`
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taskshield_lab.training.authorisation.token_rows import FORMS, read_situations

Floats = NDArray[np.float64]
READINGS = ("bare", "bare less menu", "plain", "marked", "together")
_FEW = 20
"""Sources with fewer right or wrong calls have no figure."""


def readings(
    situations: Sequence[Mapping[str, Any]], files: Sequence[Path]
) -> list[dict[str, Any]]:
    """Every call that a network evaluated, with what it said; the mean over the files."""
    calls: dict[tuple[int, int], dict[str, Any]] = {}
    for path in files:
        stored = np.load(path)
        bare: defaultdict[int, dict[int, float]] = defaultdict(dict)
        rows = list(zip(stored["meta"], stored["about"], stored["logits"], strict=True))
        for meta, about, logit in rows:
            if meta["row"] < 0:
                bare[int(about)][int(meta["tool"])] = float(logit)
        for meta, about, logit in rows:
            if meta["row"] < 0:
                continue
            key = int(about), int(meta["row"])
            if key not in calls:
                situation = situations[key[0]]
                calls[key] = {
                    "situation": key[0],
                    "source": situation["source"],
                    "acts": situation["acts"][int(meta["tool"])],
                    "asked": bool(meta["asked"]),
                    "kind": situation["rows"][key[1]]["kind"],
                    **{name: [] for name in READINGS[:-1]},
                }
            one, tool = calls[key], int(meta["tool"])
            one[FORMS[int(meta["form"])]].append(float(logit))
            menu = bare[key[0]]
            if FORMS[int(meta["form"])] == "plain" and tool in menu:
                others = [logit for other, logit in menu.items() if other != tool]
                one["bare"].append(menu[tool])
                one["bare less menu"].append(menu[tool] - (np.mean(others) if others else 0.0))
    found = [one for one in calls.values() if one["bare"]]
    for one in found:
        for name in READINGS[:-1]:
            one[name] = float(np.mean(one[name]))
        one["together"] = one["plain"] + one["marked"] + one["bare less menu"]
    return found


def auc(right: Floats, wrong: Floats) -> float:
    """How often a right call scores higher than a wrong one."""
    order = np.argsort(np.concatenate([wrong, right]), kind="stable")
    ranks = np.empty(len(order))
    ranks[order] = np.arange(1, len(order) + 1)
    total = ranks[len(wrong) :].sum() - len(right) * (len(right) + 1) / 2
    return float(total / len(right) / len(wrong))


def figures(calls: Sequence[Mapping[str, Any]], *, acts: bool | None) -> dict[str, Any]:
    """By source: the counts, the AUC of each reading, what is caught where 2 % are blocked."""
    by_source: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for one in calls:
        if acts is None or one["acts"] is acts:
            by_source[one["source"]].append(one)
    found: dict[str, Any] = {}
    for source, some in sorted(by_source.items()):
        right = [one for one in some if one["asked"]]
        wrong = [one for one in some if not one["asked"]]
        if min(len(right), len(wrong)) < _FEW:
            continue
        least = np.quantile([one["together"] for one in right], 0.02)
        found[source] = {
            "situations": len({one["situation"] for one in some}),
            "right": len(right),
            "wrong": len(wrong),
            "auc": {
                name: auc(*(np.array([one[name] for one in part]) for part in (right, wrong)))
                for name in READINGS
            },
            "caught at 2 %": float(np.mean([one["together"] < least for one in wrong])),
        }
    return found


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--situations", type=Path, nargs="+", required=True)
    parser.add_argument("--scores", type=Path, nargs="+", required=True)
    parser.add_argument("--acts", action="store_true", help="only calls with side effects")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    found = figures(
        readings(read_situations(given.situations), given.scores),
        acts=True if given.acts else None,
    )
    print(f"{'source':28}{'right':>7}{'wrong':>7}" + "".join(f"{name:>16}" for name in READINGS))
    for source, one in found.items():
        numbers = "".join(f"{one['auc'][name]:16.3f}" for name in READINGS)
        print(f"{source:28}{one['right']:7}{one['wrong']:7}{numbers}  {one['caught at 2 %']:.2f}")
    others = [one for source, one in found.items() if not source.startswith("own:")]
    for name in READINGS:
        every = [one["auc"][name] for one in others]
        if every:
            print(f"{name}: mean {np.mean(every):.3f}, worst {min(every):.3f}")
    if given.out is not None:
        given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
