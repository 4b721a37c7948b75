"""Two releases of the server on one Postgres under load: rolling forward and back.

Six clients send the messages of many conversations, half of them with a session, the others without
one, as requests that repeat the whole conversation. The servers come and go: the first release
alone, both in turn within each conversation, the second alone, both again, and the first alone once
more. Then each release reads all sessions and makes all decisions again from what is stored.

- 0.1.0 and this release share a store that 0.1.0 made
- this release and a later one share a new store: the later one is this code, which adds a member
  that this release does not know to the objects that it stores

It uses the servers of the tests: `PYTHONPATH=. python lab/benchmarks/server/two_versions.py`.
"""

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.server.mixed_releases import Traffic, earlier, later, now
from tests.stores.postgres_server import PostgresServer

from taskshield_lab.bench.scripts import results_file


def measure(store: str, first: Path, second: Path, messages: int, talks: int) -> dict[str, object]:
    """Roll from one release to the other and back."""
    began = time.perf_counter()
    seen = Traffic(store, first, second, talks=talks).run(messages)
    return {
        "messages": seen.messages,
        "conversations": seen.conversations,
        "refused": seen.refused.total(),
        "unreadable": seen.unreadable,
        "lost": seen.lost,
        "changed": seen.changed,
        "sessions_read_twice": seen.read_sessions,
        "decisions_replayed_twice": seen.replayed,
        "after_roll_back": seen.after_roll_back,
        "seconds": round(time.perf_counter() - began, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--messages", type=int, default=10_000, metavar="N", help="messages of each pair (10,000)"
    )
    parser.add_argument(
        "--conversations", type=int, default=200, metavar="N", help="conversations at once (200)"
    )
    parser.add_argument(
        "--results", type=Path, default=results_file.RESULTS, help="folder for the figures"
    )
    options = parser.parse_args()
    sizes = (options.messages, options.conversations)
    postgres = PostgresServer()
    try:
        with TemporaryDirectory() as name:
            folder = Path(name)
            pairs = {
                "0.1.0 and this release": (earlier(folder), now()),
                "this release and a later one": (now(), later(folder)),
            }
            figures: dict[str, dict[str, object]] = {}
            for pair, (first, second) in pairs.items():
                figures[pair] = measure(postgres.new_url(), first, second, *sizes)
                print(
                    pair, *(f"  {key}: {value}" for key, value in figures[pair].items()), sep="\n"
                )
    finally:
        postgres.remove()
    path = results_file.write("two_versions", figures, inputs=[], folder=options.results)
    print(f"The figures were written to {path.name}.")


if __name__ == "__main__":
    main()
