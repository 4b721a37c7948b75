"""The command line of benchmarks that go through recorded runs."""

import argparse
from pathlib import Path

from taskshield_lab.bench.run.recorded_runs import WHERE


def recorded_parser(description: str | None) -> argparse.ArgumentParser:
    """A parser that takes the paths of recorded runs."""
    parser = argparse.ArgumentParser(
        description=description,
        epilog=f"{WHERE} Runs that ended with an error are left out.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "paths",
        metavar="PATH",
        type=Path,
        nargs="+",
        help="a .jsonl or .jsonl.xz file with a run on each line, or a folder of those or of .json",
    )
    return parser
