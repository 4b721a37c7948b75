"""Writes the figures of docs/benchmarks.md: `python docs/site/benchmarks_page.py`.

The words of the page are written by hand and hold no figure. Each table stands between two marks,
which name the function that makes it from lab/benchmarks/results. A test compares the page, and the
picture beside it, with what this makes.
"""

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from bars import Bar, chart
from held_tables import (
    agent_texts,
    bfcl,
    dialogues,
    own_worlds,
    pointed_work,
    public_conversations,
)
from records import RESULTS, grid, record

from taskshield_lab.bench.report.paper_figures import GPT_4O, NO_DEFENCE, TASK_SHIELD, rows
from taskshield_lab.bench.report.tables import percent

DOCS = Path(__file__).parents[1]
PAGE = DOCS / "benchmarks.md"
PICTURE = DOCS / "benchmarks-attacks.svg"
_MARKED = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)
_EXAM = "worst-case-v1-important_instructions"
_UNLIKE = "The judge was tried on fewer of the user's tasks than no defence was: compare with care."
_TARGETS = ("taskshield", "bare", "litellm")


def page(text: str) -> str:
    """The page with its figures as they are now."""
    return _MARKED.sub(lambda mark: f"{mark[1]}\n{TABLES[mark[2]]()}\n\n{mark[3]}", text)


def picture() -> str:
    """What comes about of each adaptive attack, without and with the embedded judge."""
    undefended = _undefended()
    bars = [
        Bar(
            label=f"{each['attack']} ({each['overall']['attacked_runs']})",
            before=undefended[each["attack"]]["asr"]["value"],
            after=each["overall"]["asr"]["value"],
        )
        for each in _worst_first("worst-case-v1-adaptive-embedded")
    ]
    return chart("Adaptive attacks that reach their goal", bars)


def worst_case() -> str:
    """The worst-case agent behind each judge."""
    judges = ("none", "allow-all", "block-side-effects", "embedded")
    return grid(
        ("judge", "CU", "U", "ASR"),
        [
            (_judge(judge), *_shares(each["overall"], "clean_utility", "utility", "asr"))
            for judge in judges
            for each in _results(f"{_EXAM}-{judge}")
        ],
    )


def by_suite() -> str:
    """The embedded judge in each of AgentDojo's suites."""
    (result,) = _results(f"{_EXAM}-embedded")
    return grid(
        ("suite", "CU", "U", "ASR"),
        [
            (suite, *_shares(each, "clean_utility", "utility", "asr"))
            for suite, each in sorted(result["suites"].items())
        ],
    )


def replay() -> str:
    """Recorded runs of gpt-4o behind the embedded judge, and the paper's figures."""
    ours = [
        (_words(judge), *_shares(each["overall"], "clean_utility", "utility", "asr"))
        for judge in ("none", "embedded")
        for each in _results(f"replay-v1-gpt-4o-{judge}")
        if each["attack"] == "important_instructions"
    ]
    theirs = [
        (
            f"the paper: {row.defence}",
            f"{row.overall.cu:.1f}",
            f"{row.overall.u:.1f}",
            f"{row.overall.asr:.1f}",
        )
        for row in rows(2)
        if row.model == GPT_4O and row.defence in (NO_DEFENCE, TASK_SHIELD)
    ]
    return grid(("gpt-4o", "CU", "U", "ASR"), [*ours, *theirs])


def clean() -> str:
    """What the embedded judge costs recorded agents that nobody attacks."""
    found = [
        (
            each["agent"],
            str(each["overall"]["clean_runs"]),
            *_shares(each["overall"], "false_blocks", "disturbed"),
        )
        for version in ("v1", "v1.2.1")
        for each in _results(f"replay-{version}-clean-embedded")
    ]
    return grid(("agent", "runs", "false blocks", "disturbed"), found)


def other_attacks() -> str:
    """AgentDojo's other attacks."""
    return _attacks(_worst_first("worst-case-v1-other-attacks-embedded"))


def adaptive_attacks() -> str:
    """Our own attacks, each beside the same without a defence."""
    undefended = _undefended()
    lines = []
    alike = True
    for each in _worst_first("worst-case-v1-adaptive-embedded"):
        bare, guarded = undefended[each["attack"]], each["overall"]
        runs, own_runs = bare["attacked_runs"], guarded["attacked_runs"]
        alike = alike and runs == own_runs
        without = (f"`{each['attack']}`", str(runs), *_shares(bare, "asr"))
        lines.append((*without, str(own_runs), *_shares(guarded, "utility", "asr")))
    head = ("attack", "runs, no defence", "ASR", "runs, `embedded`", "U", "ASR")
    return grid(head, lines) if alike else f"{grid(head, lines)}\n\n{_UNLIKE}"


def redaction() -> str:
    """The same judge where planted words are taken out of tool output."""
    found = _worst_first("worst-case-v1-redact-embedded")
    table = _attacks(found)
    (lost,) = {_shares(each["overall"], "false_redactions") for each in found}
    return f"{table}\n\nOf clean tool outputs, {lost[0]} per cent lost something."


def tiers() -> str:
    """What tools are taken for, by what they are."""
    found: dict[str, dict[str, int]] = record("tiers")["taken_for"]
    lines = []
    for tier, others in found.items():
        number = sum(others.values())
        shares = (f"{100 * others.get(other, 0) / number:.1f}" for other in found)
        lines.append((f"`{tier}`", f"{number:,}", *shares))
    return grid(("is", "tools", *(f"`{tier}`" for tier in found)), lines)


def latency() -> str:
    """Milliseconds of the embedded judge, in process."""
    told = record("embedded_latency")
    checks = [
        (what, str(each["count"]), *(_ms(each[f"{at}_ms"]) for at in ("p50", "p90", "p99")))
        for what, each in told["checks"].items()
    ]
    start, large = told["cold_start"], told["large_output"]["seconds"]
    more = [
        ("one output of 1 MB", f"{large['1000000']:.0f} s"),
        ("start of a process until an attack is stopped", f"{start['median_seconds']:.2f} s"),
        ("resident memory after that", f"{start['resident_mib']:.1f} MiB"),
        ("`import taskshield`", f"{record('import_time')['import_ms']:.0f} ms"),
    ]
    first = grid(("check of", "checks", "p50 ms", "p90 ms", "p99 ms"), checks)
    return f"{first}\n\n{grid(('what', 'takes'), more)}"


def server() -> str:
    """The server beside a bare pass-through and another proxy."""
    told = record("server")
    single = [each for each in told["azure"] if each["checks"] == 1 and each["clients"] == 1]
    lines: list[tuple[str, ...]] = [
        (f"over HTTP, p50 ms: {each['new']}", _ms(each["whole_ms"]["p50"]), "", "")
        for each in single
    ]
    for what, column, clients in (
        ("added to the first word, p50 ms", "added_first_ms", 1),
        ("requests a second, eight clients", "per_second", told["sizes"]["clients"]),
    ):
        for newest in ("user", "tool output"):
            cells = (_chat(told, target, newest, clients)[column] for target in _TARGETS)
            lines.append((f"{what}: newest message {newest}", *map(_ms, cells)))
    lines.append(("start to ready, s", f"{told['start']['median_seconds']:.1f}", "", ""))
    lines.append(("memory after all, MiB", f"{told['memory_after_mib']['resident']:.1f}", "", ""))
    return grid(("what", *_TARGETS), lines)


def budgets() -> str:
    """What the server was meant to reach, and what it does."""
    found = [
        (
            each["what"],
            f"`{each['budget']}`",
            f"{each['measured']:g}",
            "met" if each["met"] else "**missed**",
        )
        for each in record("server")["budgets"]
    ]
    return grid(("what", "budget", "measured", ""), found)


def llm_cost() -> str:
    """Model calls of an LLM judge."""
    told = record("llm_cost")
    names = {
        "ours": "taskshield",
        "ours, cache": "taskshield with its cache, one shield for all runs",
        "paper, by definition": "the paper's scheme: one call a message and one an instruction",
        "paper, as run": "`scheme: per_instruction`",
    }
    found = []
    for name, words in names.items():
        each = told["schemes"][name]
        tokens = each.get("prompt_tokens_per_checked_message")
        found.append(
            (
                words,
                f"{each['calls']:,}",
                f"{each['calls_per_checked_message']:.2f}",
                "" if tokens is None else f"{tokens:,.0f}",
            )
        )
    return grid(("scheme", "model calls", "a checked message", "prompt tokens of it"), found)


def records() -> str:
    """Every record, with the command that made it."""
    found = []
    for path in sorted(RESULTS.glob("*.json")):
        told = json.loads(path.read_text(encoding="utf-8"))
        if "command" in told:
            found.append(f"- `{path.name}`, {told['date']}: `{told['command']}`")
    return "\n".join(found)


TABLES: dict[str, Callable[[], str]] = {
    make.__name__: make
    for make in (
        worst_case,
        by_suite,
        replay,
        clean,
        other_attacks,
        adaptive_attacks,
        redaction,
        public_conversations,
        pointed_work,
        own_worlds,
        bfcl,
        dialogues,
        agent_texts,
        tiers,
        latency,
        server,
        budgets,
        llm_cost,
        records,
    )
}
"""What a mark may name."""


def _results(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = record(name)["results"]
    return found


def _undefended() -> dict[str, dict[str, Any]]:
    found = _results("worst-case-v1-adaptive-none")
    return {each["attack"]: each["overall"] for each in found}


def _worst_first(name: str) -> list[dict[str, Any]]:
    return sorted(
        _results(name), key=lambda each: (-each["overall"]["asr"]["value"], each["attack"])
    )


def _attacks(found: Iterable[dict[str, Any]]) -> str:
    return grid(
        ("attack", "runs", "U", "ASR"),
        [
            (
                f"`{each['attack']}`",
                str(each["overall"]["attacked_runs"]),
                *_shares(each["overall"], "utility", "asr"),
            )
            for each in found
        ],
    )


def _chat(told: dict[str, Any], target: str, newest: str, clients: int) -> dict[str, Any]:
    """The row for streams from a provider that takes its time."""
    wanted = (target, newest, clients, True, told["sizes"]["delay_ms"])
    (row,) = (
        each
        for each in told["chat"]
        if tuple(each[k] for k in ("target", "newest", "clients", "stream", "delay_ms")) == wanted
    )
    found: dict[str, Any] = row
    return found


def _shares(figures: dict[str, Any], *names: str) -> tuple[str, ...]:
    return tuple(_share(figures[name]) for name in names)


def _share(rate: dict[str, float] | None) -> str:
    if rate is None:
        return "-"
    value = rate["hits"] / rate["total"]  # "value" is rounded, and would be rounded twice
    return f"{percent(value)} [{percent(rate['low'])}, {percent(rate['high'])}]"


def _judge(name: str) -> str:
    return "no defence" if name == "none" else f"`{name}`"


def _words(judge: str) -> str:
    return "replayed, no defence" if judge == "none" else f"replayed, judge `{judge}`"


def _ms(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    PICTURE.write_text(picture(), encoding="utf-8")
