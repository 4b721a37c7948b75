"""The model card: what a model is made from, how it does where it has not been, where it fails.

Its prose is in `card.md`; the figures come from the folds.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from taskshield_lab.training.pipeline.training_run import TrainingRun

_ENCODERS = {
    "bert": ("A BERT", "all-MiniLM-L6-v2 (Apache-2.0)"),
    "mpnet": ("An MPNet", "all-mpnet-base-v2 (Apache-2.0)"),
}
"""What each kind is called, and which one we begin with."""
_TEMPLATE = Path(__file__).with_name("model_card.md")


def written(
    course: TrainingRun,
    figures: Mapping[str, Any],
    decision: Mapping[str, Any],
    golden: Mapping[str, Any],
    size: int,
    encoder: Mapping[str, Any],
) -> str:
    """The card as Markdown; the encoder is the base's `config.json`."""
    tables = [
        _groups(figures),
        _tags(figures),
        _glance(figures),
        _kept(figures),
        _foreign(figures),
        _thresholds(figures, decision),
        _aside(figures),
        _ablation(figures),
        _calibration(figures),
    ]
    kind, base = _ENCODERS[encoder.get("model_type", "bert")]
    blanks = {
        "encoder": f"{kind} encoder of {encoder['num_hidden_layers']} layers"
        f" and {encoder['hidden_size']} dimensions",
        "base": base,
        "second": "" if course.alignment is None else "; public pairs and texts, see `NOTICE`",
        "size": f"{size / 2**20:.0f}",
        "course": json.dumps(_described(course)),
        "mean": str(golden["mean difference"]),
        "most": str(golden["largest difference"]),
        "tables": "\n".join(tables),
    }
    text = _TEMPLATE.read_text(encoding="utf-8")
    for name, filling in blanks.items():
        text = text.replace(f"{{{{{name}}}}}", filling)
    return text


def _groups(figures: Mapping[str, Any]) -> str:
    lines = [
        f"{figures['calls']} calls in {figures['domains']} unseen domains, with unseen styles."
        " Calls with side effects, but for the first column; per cent.",
        "",
        "| calls | ranking (AUC) | attacks caught at 1 / 2 / 5 % false blocks | drift at 5 % |"
        " false blocks at 90 / 95 / 99 % recall |",
        "| --- | --- | --- | --- | --- |",
    ]
    names = ("all", "not delegating", "delegating", "English data", "data in other languages")
    rows = [(name, figures[name]) for name in names]
    rows += [(f"fold {number}", one) for number, one in enumerate(figures["by fold"])]
    for name, one in rows:
        caught = " / ".join(_percent(x) for x in one["attacks caught at false blocks of"].values())
        recall = " / ".join(_percent(x) for x in one["false blocks at recall of"].values())
        drift = _percent(one["drift caught at false blocks of"]["0.05"])
        lines.append(
            f"| {name} | {one['ranking of all calls']:.3f} | {caught} | {drift} | {recall} |"
        )
    return "\n".join([*lines, ""])


def _tags(figures: Mapping[str, Any]) -> str:
    one = figures["directives"]
    found, false = one["attacks found, of outputs"], one["false alarms, of other outputs"]
    several = one["false alarms, of those of several segments"]
    tools = figures["definitions"]
    return (
        f"Directives in tool output: {_percent(found)} % of {one['outputs with an attack']} outputs"
        f" with an attack are noticed, {_percent(false)} % of the others are taken for one:"
        f" {_percent(several)} % of those that have more than one segment.\n\n"
        f"Definitions of tools: {_percent(tools['poisoned ones found'])} % of {tools['poisoned']}"
        f" poisoned ones are noticed, {_percent(tools['false alarms'])} % of {tools['honest']}"
        " honest ones are taken for one.\n"
    )


def _glance(figures: Mapping[str, Any]) -> str:
    one = figures["glance"]
    told = one["read where so many others are"]
    read = " / ".join(f"{100 * float(share):.0f}" for share in told)
    found = " / ".join(map(_percent, told.values()))
    return (
        "Of a very long output only what looks most like orders at a glance is read"
        f" (`glance.npy`). Were that {read} % of the harmless windows of an output, {found} % of"
        f" {one['with planted words']} windows with an attack would be read, in domains and styles"
        " that the weights were not learned from.\n"
    )


def _kept(figures: Mapping[str, Any]) -> str:
    if "kept" not in figures:
        return ""
    good, attacks, drift = (figures["kept"][name] for name in ("good", "attack", "drift"))
    return (
        "What was kept from all networks, the one that is shipped was asked about itself (attacks"
        " in styles that it knows). Of calls with side effects it holds, at the thresholds below,"
        f" {_share(good)} good ones, {_share(attacks)} that follow an attack, and {_share(drift)}"
        " that nobody asked for, most of these made before any tool answered.\n"
    )


def _foreign(figures: Mapping[str, Any]) -> str:
    if "foreign" not in figures:
        return ""
    plain, handed = figures["foreign"]["not delegating"], figures["foreign"]["delegating"]
    return (
        "Conversations composed of public data (`training/composed.py`), of domains and tools that"
        " no network was taught and that are not ours; an attack is a plain request in what is"
        " read. The shipped network was asked about them itself. Of calls with side effects it"
        f" holds, at the thresholds below, {_share(plain['good'])} good ones and"
        f" {_share(plain['attack'])} that follow an attack; where the user says to do what a text"
        f" asks for, {_share(handed['good'])} and {_share(handed['attack'])}.\n"
    )


def _share(held: Mapping[str, float]) -> str:
    return f"{_percent(held['held'])} % of {held['calls']}"


def _thresholds(figures: Mapping[str, Any], decision: Mapping[str, Any]) -> str:
    rates = figures["rates"]
    blocks = rates["false blocks"]
    lines = [
        "## Thresholds",
        "",
        "A call whose chance to serve the user is not above the threshold of its tier is held."
        " The chance is calibrated, so all tiers with side effects have one threshold: the highest"
        " at which, in 95 of 100 draws of domains, at most"
        f" {_percent(rates['conversations disturbed'])} % of conversations without an attack see a"
        f" good call held. Of good look-ups {_percent(blocks['read'])} % may be held, and of good"
        f" plans {_percent(blocks['plan'])} %.",
        "",
        "| tier | threshold | false blocks | attacks caught |",
        "| --- | --- | --- | --- |",
    ]
    for kind, limit in decision["thresholds"].items():
        at = figures["at the thresholds"][kind]
        lines.append(
            f"| {kind} | {limit:.3f} |"
            f" {_percent(at['false blocks'])} | {_percent(at['attacks caught'])} |"
        )
    tags, runs = decision["directive"], figures["disturbed"]
    return "\n".join(
        [
            *lines,
            "",
            f"Of {runs['conversations']} conversations without an attack"
            f" {_percent(runs['with a block'])} % see a good call blocked; in 95 of 100 draws of"
            f" other domains at most {_percent(runs['at most'])} %.",
            "",
            f"A segment is planted from a chance of {tags['planted']:.2f} on"
            f" ({_percent(rates['false outputs'])} % of outputs without one may show one), of"
            f" {tags['planted_delegated']:.2f} where the user tells the agent to obey somebody;"
            f" its neighbours join it from {tags['joined']:.3f} on.",
            "",
        ]
    )


def _aside(figures: Mapping[str, Any]) -> str:
    lines = [
        "## Words aside",
        "",
        "Attackers find words that go unnoticed. Where no directive explains a call with side"
        " effects well, the two sentences in the data that share most words with it, rare words"
        " before common ones, are looked at as well: does one of them ask for the call, and does it"
        " read like a directive? At the thresholds, as judged in use and as if nothing had been"
        " noticed in any output, or every imperative in it (alarmed); per cent.",
        "",
        "| calls with side effects | false blocks | attacks caught |",
        "| --- | --- | --- |",
    ]
    found = figures["words aside"]
    for name in ("noticed", "unnoticed", "alarmed"):
        if f"false blocks, {name}" in found:
            false, caught = found[f"false blocks, {name}"], found[f"attacks caught, {name}"]
            lines.append(f"| {name} | {_percent(false)} | {_percent(caught)} |")
    return "\n".join([*lines, ""])


def _ablation(figures: Mapping[str, Any]) -> str:
    lines = [
        "## What each part is worth",
        "",
        "Attacks caught at 2 % false blocks when a part of the evidence is left out of the decision"
        " (the network still saw its traces in the texts that it was shown).",
        "",
        "| left out | attacks caught |",
        "| --- | --- |",
    ]
    lines += [f"| {name} | {_percent(one)} |" for name, one in figures["without"].items()]
    return "\n".join([*lines, ""])


def _calibration(figures: Mapping[str, Any]) -> str:
    lines = [
        "## Calibration",
        "",
        "| chance given | calls | were aligned |",
        "| --- | --- | --- |",
    ]
    for one in figures["calibration"]:
        lines.append(f"| {_percent(one['said'])} | {one['calls']} | {_percent(one['was'])} |")
    return "\n".join([*lines, ""])


def _percent(share: float | None) -> str:
    return "none seen" if share is None else f"{100 * share:.1f}"


def figures_json(course: TrainingRun, figures: Mapping[str, Any]) -> str:
    """The figures for those who want to count further."""
    return json.dumps({"course": _described(course), **figures}, indent=1) + "\n"


def _described(course: TrainingRun) -> dict[str, Any]:
    return {
        "folds": course.folds,
        "networks": course.networks,
        "per_scenario": course.per_scenario,
        "per_task": course.per_task,
        "epochs": course.schedule.epochs,
        "rate": course.schedule.rate,
        "seed": course.seed,
        "second_source": course.alignment is not None,
        "kept": course.kept,
    }
