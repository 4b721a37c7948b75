"""Model calls and prompt tokens that the LLM judge needs for recorded conversations.

Each message is checked in a real session with the LLM judge. A rule-based model
(rule_based_model.py) answers instead of an LLM. The cost of the paper's scheme depends on the
number of instructions in a text. The model counts each sentence that opens with a common verb, is
a question, or says please, must or should. This rule is crude, so the paper's scheme is counted
three times:

- as run: this library's scheme="per_instruction", which needs no extraction call without text
- by definition: one extraction call for each checked message, and one call for each instruction and
  each tool call; none for system messages
- floor: the same, if no text had an instruction

Tokens are estimated as four bytes each. Descriptions of tools are not counted, because the records
do not have them.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from counted_replay import Transcript, replay
from prompt_growth import prompt_growth
from rich.console import Console
from rich.table import Table
from scheme_figures import LEVELS, Figures, by_definition, floor, measured

from taskshield import Level
from taskshield.adapters.traces.agentdojo_runs import RecordedRun
from taskshield.core.errors import WireFormatError
from taskshield_lab.bench.run.recorded_runs import read
from taskshield_lab.bench.scripts import results_file
from taskshield_lab.bench.scripts.recorded_options import recorded_parser

CACHE_ENTRIES = 1_024
"""The default of the settings."""
WIDTH = 120
OURS = "ours"
OURS_CACHED = "ours, cache"
FLOOR = "paper, floor"
PAPER = ("paper, as run", "paper, by definition", FLOOR)

NO_ATTACK = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All that was measured."""

    runs: int
    left_out: int
    """Runs that ended with an error."""
    messages: dict[str, int]
    """By level."""
    texts: int
    """Checked messages of the assistant and of tools that have text."""
    instructions_in_texts: int
    """As the rule-based model counts them, without tool calls."""
    schemes: dict[str, Figures]
    prompt_growth: dict[int, int]
    """Prompt characters, by number of the message in one long conversation."""

    def ratio(self, scheme: str, other: str) -> float:
        """Calls of one scheme for each call of another."""
        return round(self.schemes[scheme].calls / self.schemes[other].calls, 3)

    @property
    def break_even(self) -> float:
        """Instructions per text from which our scheme needs half of the paper's calls."""
        missing = 2 * self.schemes[OURS].calls - self.schemes[FLOOR].calls
        return round(missing / self.texts, 3)

    def as_json(self) -> dict[str, object]:
        """For the results file."""
        ours = [name for name in self.schemes if name not in PAPER]
        return {
            "runs": self.runs,
            "left_out": self.left_out,
            "messages": self.messages,
            "texts": self.texts,
            "instructions_in_texts": self.instructions_in_texts,
            "instructions_per_text": round(self.instructions_in_texts / self.texts, 3),
            "instructions_per_text_at_which_ours_is_half": self.break_even,
            "schemes": {name: figures.as_json() for name, figures in self.schemes.items()},
            "calls_per_call_of": {
                other: {name: self.ratio(name, other) for name in ours} for other in PAPER
            },
            "prompt_characters_of_message": self.prompt_growth,
        }


async def measure(found: Sequence[RecordedRun]) -> Report:
    """Replay the runs under every scheme."""
    sound = [run for run in found if not run.error]
    runs = [Transcript(system=run.system, messages=run.messages) for run in sound]
    ours = await replay(runs)
    theirs = await replay(runs, scheme="per_instruction")
    cached = await replay(runs, cache_entries=CACHE_ENTRIES)
    figures = (measured(theirs), by_definition(ours), floor(ours))
    return Report(
        runs=len(runs),
        left_out=len(found) - len(runs),
        messages={level.value: sum(cost.level is level for cost in ours) for level in LEVELS},
        texts=sum(
            cost.text and cost.check != "skipped" and cost.level is not Level.USER for cost in ours
        ),
        instructions_in_texts=sum(cost.instructions - cost.calls for cost in ours),
        schemes={
            OURS: measured(ours),
            OURS_CACHED: measured(cached),
            **dict(zip(PAPER, figures, strict=True)),
        },
        prompt_growth=await prompt_growth(),
    )


def show(report: Report, console: Console) -> None:
    """Print the report."""
    messages = sum(report.messages.values())
    console.print(
        f"{report.runs:,} runs ({report.left_out:,} left out), {messages:,} messages,"
        f" {report.instructions_in_texts:,} instructions in {report.texts:,} texts by the rule"
    )
    table = Table()
    table.add_column("scheme", no_wrap=True)
    levels = [level.value for level in LEVELS]
    for column in ("calls", *levels, "/check", "none", "most", "k tokens", "/check"):
        table.add_column(column, justify="right", no_wrap=True)
    for name, figures in report.schemes.items():
        table.add_row(
            name,
            f"{figures.calls:,}",
            *(f"{figures.calls_by_level[level]:,}" for level in levels),
            f"{figures.calls_per_checked_message:.2f}",
            f"{figures.share_of_messages_without_a_call:.1%}",
            f"{figures.most_calls_of_a_message}",
            _number(figures.prompt_tokens, 1000),
            _number(figures.prompt_tokens_per_checked_message),
        )
    console.print(table)
    for other in PAPER:
        ratios = [
            f"{name} {report.ratio(name, other):.3f}"
            for name in report.schemes
            if name not in PAPER
        ]
        console.print(f"calls for each call of the {other}: {'; '.join(ratios)}")
    console.print(f"half of the calls from {report.break_even:.2f} instructions per text")
    grown = ", ".join(f"{number}: {size:,}" for number, size in report.prompt_growth.items())
    console.print(f"characters of the prompt, by number of the message: {grown}")


def chosen(runs: Iterable[RecordedRun], attacks: frozenset[str]) -> Iterator[RecordedRun]:
    """The runs with one of these attacks. Without attacks, all runs."""
    return (run for run in runs if not attacks or (run.attack or NO_ATTACK) in attacks)


def _number(value: float | None, unit: int = 1) -> str:
    return "-" if value is None else f"{value / unit:,.0f}"


def main(words: Sequence[str] | None = None) -> None:
    parser = recorded_parser(__doc__)
    parser.add_argument("--limit", type=int, metavar="N", help="at most N runs of each PATH")
    parser.add_argument(
        "--attack",
        dest="attacks",
        metavar="NAME",
        action="append",
        default=[],
        help=f'only runs with this attack, "{NO_ATTACK}" for those without; may be repeated',
    )
    parser.add_argument(
        "--results", type=Path, default=results_file.RESULTS, help="folder for the figures"
    )
    given = parser.parse_args(words)
    attacks = frozenset(given.attacks)
    try:
        found = [
            run for path in given.paths for run in islice(chosen(read(path), attacks), given.limit)
        ]
    except WireFormatError as error:
        parser.error(str(error))
    if not found:
        parser.error("No runs were found.")
    report = asyncio.run(measure(found))
    show(report, Console(width=WIDTH))
    names = [path.name for path in given.paths]
    path = results_file.write("llm_cost", report.as_json(), inputs=names, folder=given.results)
    print(f"The figures were written to {path.name}.")


if __name__ == "__main__":
    main()
