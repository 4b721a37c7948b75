"""Runs a snippet, as a program of its own would, and gives what it defines to a driver.

    python run.py DRIVER FUNCTION < SNIPPET

It runs in an environment that has the wheel and what the page says to install. The helpers of the
tests are looked for last, so nothing of the repository hides what is installed.
"""

import importlib
import os
import sys
from typing import Any


def main() -> None:
    """Run the snippet, then the driver."""
    del sys.path[0]
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(sys.stdin.read(), "snippet", "exec"), names)
    sys.path.append(os.environ["SNIPPETS_HELPERS"])
    driver = importlib.import_module(f"tests.docs.snippets.drivers.{sys.argv[1]}")
    getattr(driver, sys.argv[2])(names)


main()
