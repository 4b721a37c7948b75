"""Writes the figures of docs/benchmarks.md: `python docs/site/benchmarks_page.py`.

The text of the page is written by hand and has no figures. Each table is between two marks, which
name the function that makes it from lab/benchmarks/results. A test compares the page and its
picture with the output of this script.

The module is long because each table of the page is one function here.
"""

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from bars import Bar, chart
from blocked_tables import (
    agent_texts,
    bfcl,
    contrast,
    dialogues,
    own_worlds,
    pointed_work,
    public_conversations,
)
from result_files import RESULTS, grid, results

from taskshield_lab.bench.report.paper_figures import GPT_4O, NO_DEFENCE, TASK_SHIELD, rows
from taskshield_lab.bench.report.tables import percent

DOCS = Path(__file__).parents[1]
PAGE = DOCS / "benchmarks.md"
PICTURE = DOCS / "benchmarks-attacks.svg"
_MARKED = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)
_WORST_CASE = "worst-case-v1-important_instructions"
_FEWER_TASKS = "The judge was measured on fewer user tasks than no defence, so compare with care."
_TARGETS = ("taskshield", "bare", "litellm")


def page(text: str) -> str:
    """The page with the current figures."""
    return _MARKED.sub(lambda mark: f"{mark[1]}\n{TABLES[mark[2]]()}\n\n{mark[3]}", text)


def picture() -> str:
    """A chart of the ASR of each adaptive attack, without and with the embedded judge."""
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
    """The worst-case agent with each judge."""
    judges = ("none", "allow-all", "block-side-effects", "embedded")
    return grid(
        ("judge", "clean runs", "attacked runs", "CU", "U", "ASR"),
        [
            (
                _judge(judge),
                *_runs(each["overall"]),
                *_shares(each["overall"], "clean_utility", "utility", "asr"),
            )
            for judge in judges
            for each in _entries(f"{_WORST_CASE}-{judge}")
        ],
    )


def by_suite() -> str:
    """The embedded judge in each of AgentDojo's suites."""
    (result,) = _entries(f"{_WORST_CASE}-embedded")
    return grid(
        ("suite", "clean runs", "attacked runs", "CU", "U", "ASR"),
        [
            (suite, *_runs(each), *_shares(each, "clean_utility", "utility", "asr"))
            for suite, each in sorted(result["suites"].items())
        ],
    )


def replay() -> str:
    """Recorded runs of gpt-4o with the embedded judge, and the paper's figures."""
    ours = [
        (_words(judge), *_shares(each["overall"], "clean_utility", "utility", "asr"))
        for judge in ("none", "embedded")
        for each in _entries(f"replay-v1-gpt-4o-{judge}")
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
    """False positives of the embedded judge in recorded runs without an attack."""
    found = [
        (
            each["agent"],
            str(each["overall"]["clean_runs"]),
            *_shares(each["overall"], "false_blocks", "disturbed"),
        )
        for version in ("v1", "v1.2.1")
        for each in _entries(f"replay-{version}-clean-embedded")
    ]
    return grid(("agent", "runs", "blocked calls", "disturbed runs"), found)


def other_attacks() -> str:
    """AgentDojo's other attacks."""
    return _attacks(_worst_first("worst-case-v1-other-attacks-embedded"))


def adaptive_attacks() -> str:
    """Our own attacks, with and without the judge."""
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
    return grid(head, lines) if alike else f"{grid(head, lines)}\n\n{_FEWER_TASKS}"


def redaction() -> str:
    """The same judge with redaction of injected text in tool output."""
    found = _worst_first("worst-case-v1-redact-embedded")
    table = _attacks(found)
    (lost,) = {_shares(each["overall"], "false_redactions") for each in found}
    return f"{table}\n\n{lost[0]} per cent of the clean tool outputs were changed."


def tiers() -> str:
    """Inferred risk tiers of tools, by labelled tier."""
    found: dict[str, dict[str, int]] = results("tiers")["taken_for"]
    lines = []
    for tier, others in found.items():
        number = sum(others.values())
        shares = (f"{100 * others.get(other, 0) / number:.1f}" for other in found)
        lines.append((f"`{tier}`", f"{number:,}", *shares))
    return grid(("labelled", "tools", *(f"`{tier}`" for tier in found)), lines)


def latency() -> str:
    """Milliseconds of the embedded judge, in process."""
    record = results("embedded_latency")
    checks = [
        (what, str(each["count"]), *(_ms(each[f"{at}_ms"]) for at in ("p50", "p90", "p99")))
        for what, each in record["checks"].items()
    ]
    start, large = record["cold_start"], record["large_output"]["seconds"]
    more = [
        ("one output of 1 MB", f"{large['1000000']:.0f} s"),
        ("from process start to the first stopped attack", f"{start['median_seconds']:.2f} s"),
        ("resident memory after that", f"{start['resident_mib']:.1f} MiB"),
        ("`import taskshield`", f"{results('import_time')['import_ms']:.0f} ms"),
    ]
    first = grid(("check of", "checks", "p50 ms", "p90 ms", "p99 ms"), checks)
    note = f"From {record['conversations']:,} recorded conversations."
    return f"{first}\n\n{note}\n\n{grid(('', 'measured'), more)}"


def server() -> str:
    """The server beside a bare pass-through proxy and another proxy."""
    record = results("server")
    single = [each for each in record["azure"] if each["checks"] == 1 and each["clients"] == 1]
    lines: list[tuple[str, ...]] = [
        (f"over HTTP, p50 ms: {_plain(each['new'])}", _ms(each["whole_ms"]["p50"]), "", "")
        for each in single
    ]
    for what, column, clients in (
        ("added to the first word, p50 ms", "added_first_ms", 1),
        ("requests a second, eight clients", "per_second", record["sizes"]["clients"]),
    ):
        for newest in ("user", "tool output"):
            cells = (_chat(record, target, newest, clients)[column] for target in _TARGETS)
            lines.append((f"{what}: newest message {newest}", *map(_ms, cells)))
    lines.append(("start to ready, s", f"{record['start']['median_seconds']:.1f}", "", ""))
    lines.append(("memory after all, MiB", f"{record['memory_after_mib']['resident']:.1f}", "", ""))
    return grid(("", *_TARGETS), lines)


def budgets() -> str:
    """The budgets of the server, and the measured values."""
    found = [
        (
            _plain(each["what"]),
            f"`{each['budget']}`",
            f"{each['measured']:g}",
            "met" if each["met"] else "**missed**",
        )
        for each in results("server")["budgets"]
    ]
    return grid(("what", "budget", "measured", ""), found)


def dashboard() -> str:
    """Loading times of the dashboard."""
    record = results("page")
    rows = (
        ("open the list of sessions", "list_ms"),
        ("open one session", "session_ms"),
        ("show a new session in the open list", "live_update_ms"),
    )
    return grid(("", "ms"), [(what, _ms(record[key])) for what, key in rows])


def audit() -> str:
    """Speed of the audit."""
    record = results("audit")
    head = ("mode", "start, s", "conversations a second", "ratio")
    modes = [
        (
            each["mode"],
            f"{each['start_s']:.1f}",
            f"{each['per_second']:.1f}",
            f"{each['ratio']:.2f}",
        )
        for each in record["modes"]
    ]
    whole = record["whole"]
    note = (
        f"From {record['conversations']:,} conversations. All {whole['conversations']:,} recorded"
        f" runs with {whole['workers']} workers: {whole['seconds']:.0f} s,"
        f" {whole['per_second']:.1f} a second."
    )
    return f"{grid(head, modes)}\n\n{note}"


def llm_cost() -> str:
    """Model calls of an LLM judge."""
    record = results("llm_cost")
    names = {
        "ours": "taskshield",
        "ours, cache": "taskshield with its cache, one shield for all runs",
        "paper, by definition": "the paper's scheme: a call for each message and each instruction",
        "paper, as run": "`scheme: per_instruction`",
    }
    head = ("scheme", "model calls", "per checked message", "prompt tokens per checked message")
    found = []
    for name, words in names.items():
        each = record["schemes"][name]
        tokens = each.get("prompt_tokens_per_checked_message")
        found.append(
            (
                words,
                f"{each['calls']:,}",
                f"{each['calls_per_checked_message']:.2f}",
                "" if tokens is None else f"{tokens:,.0f}",
            )
        )
    return f"{grid(head, found)}\n\nFrom {record['runs']:,} recorded runs."


def records() -> str:
    """Every file of results, with the command that made it."""
    found = []
    for path in sorted(RESULTS.glob("*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        if "command" in record:
            found.append(f"- `{path.name}`, {record['date']}: `{record['command']}`")
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
        contrast,
        agent_texts,
        tiers,
        latency,
        server,
        budgets,
        dashboard,
        audit,
        llm_cost,
        records,
    )
}
"""The tables, by the name in their mark."""


def _entries(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = results(name)["results"]
    return found


def _undefended() -> dict[str, dict[str, Any]]:
    found = _entries("worst-case-v1-adaptive-none")
    return {each["attack"]: each["overall"] for each in found}


def _worst_first(name: str) -> list[dict[str, Any]]:
    return sorted(
        _entries(name), key=lambda each: (-each["overall"]["asr"]["value"], each["attack"])
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


def _chat(record: dict[str, Any], target: str, newest: str, clients: int) -> dict[str, Any]:
    """The row for streams of the slow provider."""
    wanted = (target, newest, clients, True, record["sizes"]["delay_ms"])
    (row,) = (
        each
        for each in record["chat"]
        if tuple(each[k] for k in ("target", "newest", "clients", "stream", "delay_ms")) == wanted
    )
    found: dict[str, Any] = row
    return found


def _runs(figures: dict[str, Any]) -> tuple[str, str]:
    return f"{figures['clean_runs']:,}", f"{figures['attacked_runs']:,}"


def _plain(stored: str) -> str:
    """A stored label in today's words."""
    return stored.replace("a look-up", "a read call").replace("ahead", "forwarded early")


def _shares(figures: dict[str, Any], *names: str) -> tuple[str, ...]:
    return tuple(_share(figures[name]) for name in names)


def _share(rate: dict[str, float] | None) -> str:
    if rate is None:
        return "-"
    value = rate["hits"] / rate["total"]  # "value" is rounded already
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
