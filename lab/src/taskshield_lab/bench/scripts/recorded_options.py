"""The command line of scripts that read recorded runs."""

import argparse
from pathlib import Path

from taskshield_lab.bench.run.recorded_runs import WHERE


def recorded_parser(description: str | None) -> argparse.ArgumentParser:
    """Make a parser that takes paths of recorded runs."""
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
        help="a .jsonl or .jsonl.xz file with one run per line, or a folder of such or .json files",
    )
    return parser
