"""Hostile bodies at every surface and reader: what came of each, and that nothing failed.

The bodies are random changes of good ones, the same in every run. A body counts as failed where its
answer is a 5xx other than 502 and 503 (which say that a provider is not there, or that its answer
is not passed on), where an answer or a log has a traceback, and where a reader raises what is not a
clean error.

It uses the targets of the tests: `PYTHONPATH=. python lab/benchmarks/server/fuzzed_bodies.py`.
"""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import NamedTuple

from tests.fuzz.targets import TARGETS

from taskshield_lab.bench.scripts import results_file

_PIECE = 500
"""Bodies that one process sends before it prepares another target."""


class Sent(NamedTuple):
    """Some bodies of one target."""

    target: int
    answers: Counter[str]
    failures: list[str]


def sent(target: int, numbers: range) -> Sent:
    """Send the bodies with these numbers."""
    answers: Counter[str] = Counter()
    failures: list[str] = []
    one = TARGETS[target]
    with one.open() as read:
        for number in numbers:
            try:
                answers[read(one.input(number))] += 1
            except Exception as error:
                failures.append(f"{number}: {type(error).__name__}: {error}"[:300])
    return Sent(target, answers, failures)


def all_sent(targets: Sequence[int], first: int, examples: int, jobs: int) -> dict[int, Sent]:
    """What came of all bodies, by target."""
    found = {target: Sent(target, Counter(), []) for target in targets}
    end = first + examples
    with ProcessPoolExecutor(jobs, get_context("fork")) as pool:
        waiting = [
            pool.submit(sent, target, range(start, min(start + _PIECE, end)))
            for start in range(first, end, _PIECE)
            for target in reversed(targets)  # the slowest stand last
        ]
        for each in as_completed(waiting):
            target, answers, failures = each.result()
            found[target].answers.update(answers)
            found[target].failures.extend(failures)
            for failure in failures:
                print(f"{TARGETS[target].name}: {failure}", file=sys.stderr, flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--examples", type=int, default=3_000, help="bodies for each (3,000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first body (0)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at once")
    parser.add_argument("--only", default="", help="send to those whose name has this")
    options = parser.parse_args()
    targets = [n for n, target in enumerate(TARGETS) if options.only in target.name]
    found = all_sent(targets, options.first, options.examples, options.jobs)
    failed = sum(len(each.failures) for each in found.values())
    for number, each in found.items():
        answers = ", ".join(f"{name}: {count}" for name, count in sorted(each.answers.items()))
        print(f"{TARGETS[number].name:50} {options.examples:6}  {answers}")
    print(f"{len(found)} surfaces and readers, {failed} failures.")
    if not options.only:
        figures = {
            "examples": options.examples,
            "failures": failed,
            "surfaces": {
                TARGETS[number].name: {
                    "bodies": options.examples,
                    "answers": dict(sorted(each.answers.items())),
                    "failures": len(each.failures),
                }
                for number, each in found.items()
            },
        }
        results_file.write("fuzz", figures, inputs=[], folder=results_file.RESULTS)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
