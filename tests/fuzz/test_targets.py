"""Hostile input to all that reads input from outside: a clean error, or an answer, and no more.

`make fuzz` runs it for longer, with other input each time.
"""

import os
import time
from collections.abc import Callable

import pytest

from tests.fuzz.target import Target
from tests.fuzz.targets import TARGETS

SECONDS = float(os.environ.get("FUZZ_SECONDS", "60"))
"""For all targets together."""
FIRST = int(os.environ.get("FUZZ_FIRST", "0"))
"""The number of the first input. A failure names its number, to make the same input again."""
MOST = int(os.environ.get("FUZZ_MOST", "1000000"))
FEWEST = 30


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_hostile_input_gets_a_clean_answer(
    target: Target, record_property: Callable[[str, object], None]
) -> None:
    began, number = time.monotonic(), FIRST
    with target.open() as read:
        for seed in target.seeds:
            read(seed)
        while number - FIRST < MOST:
            if time.monotonic() - began > SECONDS / len(TARGETS) and number - FIRST >= FEWEST:
                break
            try:
                read(target.input(number))
            except Exception as error:
                error.add_note(f"Repeat it with FUZZ_FIRST={number} FUZZ_MOST=1")
                raise
            number += 1
    record_property("hostile inputs", number - FIRST)
