"""The cost of appending a message to a session of 1,000 messages against one of 10.

"Before" is release 0.1.0, from tests/stores/releases, which writes the whole session with each
message. "Now" is this checkout. Each measurement is a process of its own: it makes a conversation
with the judge `block-side-effects`, adds 50 messages one by one, and then one after each of three
restarts. On SQLite and on Postgres; in a session by its id, and in a conversation that the client
sends whole each time.

Bytes on SQLite are those that the process writes to files (log and checkpoints); on Postgres they
are those of the write-ahead log. An audit record has the whole case, with all tasks: its bytes grow
with what the user says, before and now. Needs Linux.
"""

import argparse
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from taskshield_lab.bench.scripts import results_file

ROOT = Path(__file__).resolve().parents[3]
RELEASE = ROOT / "tests" / "stores" / "releases" / "0.1.0.tar.xz"
WORKER = Path(__file__).with_name("append_worker.py")
WAYS = ("session", "conversation")
COLUMNS = {
    "ms": "ms",
    "storing_ms": "of which storing",
    "uncached_ms": "ms after a restart",
    "session_bytes": "bytes of the session",
    "case_bytes": "bytes of the case",
    "written_bytes": "bytes written",
}


@contextmanager
def postgres() -> Iterator[str]:
    """The URL of an empty database on a server of its own."""
    sys.path.insert(0, str(ROOT))
    from tests.stores.postgres_server import PostgresServer

    server = PostgresServer()
    try:
        yield server.url()
    finally:
        server.remove()


def measure(source: Path, url: str, way: str, messages: int) -> dict[str, object]:
    """Figures of one process that runs this source."""
    done = subprocess.run(
        [sys.executable, str(WORKER), url, way, str(messages)],
        env={**os.environ, "PYTHONPATH": str(source)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, object] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--messages", type=int, nargs=2, default=[10, 1000], metavar="N", help="(10 1000)"
    )
    parser.add_argument(
        "--databases", nargs="+", choices=["sqlite", "postgres"], default=["sqlite", "postgres"]
    )
    parser.add_argument(
        "--results", type=Path, default=results_file.RESULTS, help="folder for the figures"
    )
    options = parser.parse_args()
    rows = []
    with TemporaryDirectory() as folder:
        with tarfile.open(RELEASE) as archive:
            archive.extractall(folder, filter="data")
        releases = {"before": Path(folder, "src"), "now": ROOT / "src"}
        for database in options.databases:
            for way in WAYS:
                for name, source in releases.items():
                    for messages in options.messages:
                        place = {"database": database, "way": way, "release": name}
                        if database == "sqlite":
                            file = Path(folder, f"{way}-{name}-{messages}.db")
                            found = measure(source, f"sqlite:///{file}", way, messages)
                        else:
                            with postgres() as url:
                                found = measure(source, url, way, messages)
                        rows.append({**place, **found})
                        shown = ", ".join(f"{COLUMNS[key]} {found[key]:,}" for key in COLUMNS)
                        print(f"{database}, {way}, {name}, {messages} messages: {shown}")
    figures = {"messages": options.messages, "rows": rows}
    path = results_file.write("append_cost", figures, inputs=[RELEASE.name], folder=options.results)
    print(f"The figures were written to {path.name}.")


if __name__ == "__main__":
    main()
