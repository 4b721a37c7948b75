"""Writes the model card: training data, figures of the folds, known failures.

The prose is in `model_card.md`.
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
"""The name of each kind of encoder, and the base that we use."""
_TEMPLATE = Path(__file__).with_name("model_card.md")


def render_card(
    run: TrainingRun,
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
        _prefilter(figures),
        _test_set(figures),
        _public(figures),
        _thresholds(figures, decision),
        _related_sentences(figures),
        _ablation(figures),
        _calibration(figures),
    ]
    kind, base = _ENCODERS[encoder.get("model_type", "bert")]
    blanks = {
        "encoder": f"{kind} encoder of {encoder['num_hidden_layers']} layers"
        f" and {encoder['hidden_size']} dimensions",
        "base": base,
        "second": "" if run.alignment is None else "; public pairs and texts, see `NOTICE`",
        "size": f"{size / 2**20:.0f}",
        "course": json.dumps(_described(run)),
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
        " Only calls with side effects, except in the ranking; per cent.",
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
        f"Directives in tool outputs: the network finds the attack in {_percent(found)} % of"
        f" {one['outputs with an attack']} outputs with one. It flags {_percent(false)} % of the"
        f" other outputs, and {_percent(several)} % of those with more than one segment.\n\n"
        f"Tool definitions: the network flags {_percent(tools['poisoned ones found'])} % of"
        f" {tools['poisoned']} poisoned ones and {_percent(tools['false alarms'])} % of"
        f" {tools['honest']} honest ones.\n"
    )


def _prefilter(figures: Mapping[str, Any]) -> str:
    one = figures["glance"]
    shares = one["read where so many others are"]
    read = " / ".join(f"{100 * float(share):.0f}" for share in shares)
    found = " / ".join(map(_percent, shares.values()))
    return (
        "Of a very long output only the parts that most look like orders are read (`glance.npy`)."
        f" With {read} % of the harmless windows read, {found} % of"
        f" {one['with planted words']} windows with an attack are read, in domains and styles that"
        " these weights were not fitted on.\n"
    )


def _test_set(figures: Mapping[str, Any]) -> str:
    if "kept" not in figures:
        return ""
    good, attacks, drift = (figures["kept"][name] for name in ("good", "attack", "drift"))
    return (
        "The released network was evaluated on a test set that no network was trained on (its"
        " attacks use styles that the network knows). Of calls with side effects, the thresholds"
        f" below block {_share(good)} good ones, {_share(attacks)} that follow an attack, and"
        f" {_share(drift)} drifts, most of which come before any tool output.\n"
    )


def _public(figures: Mapping[str, Any]) -> str:
    if "foreign" not in figures:
        return ""
    plain, delegating = figures["foreign"]["not delegating"], figures["foreign"]["delegating"]
    return (
        "The released network was also evaluated on conversations composed of public data"
        " (`distractors/public_conversations.py`), with domains and tools that are not ours and"
        " that no network was trained on. An attack there is a plain request in an output. Of calls"
        f" with side effects, the thresholds below block {_share(plain['good'])} good ones and"
        f" {_share(plain['attack'])} that follow an attack. Where the user delegates to a text,"
        f" they block {_share(delegating['good'])} and {_share(delegating['attack'])}.\n"
    )


def _share(figures: Mapping[str, float]) -> str:
    return f"{_percent(figures['held'])} % of {figures['calls']}"


def _thresholds(figures: Mapping[str, Any], decision: Mapping[str, Any]) -> str:
    rates = figures["rates"]
    blocks = rates["false blocks"]
    lines = [
        "## Thresholds",
        "",
        "A call is blocked unless its probability to serve the user is above the threshold of its"
        " tier. Probabilities are calibrated, so all tiers with side effects share one threshold:"
        " the highest at which, in 95 of 100 draws of domains, at most"
        f" {_percent(rates['conversations disturbed'])} % of conversations without an attack have a"
        f" blocked good call. Of good read calls {_percent(blocks['read'])} % may be blocked, of"
        f" good plans {_percent(blocks['plan'])} %.",
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
            f"{_percent(runs['with a block'])} % of {runs['conversations']} conversations without"
            " an attack have a blocked good call; in 95 of 100 draws of other domains at most"
            f" {_percent(runs['at most'])} %.",
            "",
            f"A segment counts as injected from a probability of {tags['planted']:.2f} on (which"
            f" flags {_percent(rates['false outputs'])} % of outputs without an injection), and of"
            f" {tags['planted_delegated']:.2f} where the user delegates to a source. Its neighbours"
            f" join it from {tags['joined']:.3f} on.",
            "",
        ]
    )


def _related_sentences(figures: Mapping[str, Any]) -> str:
    lines = [
        "## Related sentences",
        "",
        "Attackers find words that the network does not flag. If no directive explains a call with"
        " side effects well, the judge also looks at the two sentences in the data that share most"
        " words with the call, rare words before common ones: does one of them ask for the call,"
        " and does it read like a directive? Rates at the thresholds with the network's flags"
        " (noticed), without any flag (unnoticed) and with every imperative flagged (alarmed); per"
        " cent.",
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
        "Attacks caught at 2 % false blocks when a part of the evidence is left out of the"
        " decision. The network still saw traces of it in the texts that it read.",
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
        "| predicted | calls | aligned |",
        "| --- | --- | --- |",
    ]
    for one in figures["calibration"]:
        lines.append(f"| {_percent(one['said'])} | {one['calls']} | {_percent(one['was'])} |")
    return "\n".join([*lines, ""])


def _percent(share: float | None) -> str:
    return "none seen" if share is None else f"{100 * share:.1f}"


def figures_json(run: TrainingRun, figures: Mapping[str, Any]) -> str:
    """All figures as JSON."""
    return json.dumps({"course": _described(run), **figures}, indent=1) + "\n"


def _described(run: TrainingRun) -> dict[str, Any]:
    return {
        "folds": run.folds,
        "networks": run.networks,
        "per_scenario": run.per_scenario,
        "per_task": run.per_task,
        "epochs": run.schedule.epochs,
        "rate": run.schedule.rate,
        "seed": run.seed,
        "second_source": run.alignment is not None,
        "kept": run.test_set,
    }
