"""No odd answer brings a call to a client that was not judged."""

import pytest

from tests.server.proxy.odd_answers.shapes import Shape, shapes, table

SHAPES = list(shapes())
NOT_REFUSED = {
    "chat stream: a call",
    "chat stream: a second choice",
    "chat stream: the second choice first",
    "chat stream: a custom call",
    "chat stream: a legacy call",
    "chat stream: legacy and new call",
    "chat stream: no reason",
    "chat place in a stream: a name in pieces",
    "responses place in a stream: a name in a space",
    "chat framing: CRLF",
    "chat body: a call",
    "anthropic stream: a call",
    "anthropic stream: blocks out of order",
    "anthropic framing: CR only",
    "anthropic body: a call",
    "responses stream: a call",
    "responses stream: a call in completed only",
    "responses stream: shell_call",
    "responses stream: robot_action",
    "responses framing: data in several lines",
    "responses body: a call",
    "responses body: computer_call",
    "responses body: an output beside the call",
}
"""Shapes that are odd at most, and whose calls a client must not lose where they are aligned."""


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_call_in_an_odd_answer_is_judged_or_does_not_arrive(shape: Shape) -> None:
    outcome = shape.outcome()
    assert outcome != "passed"
    if str(shape) in NOT_REFUSED:
        assert outcome == "judged"


def test_the_table_counts_every_shape() -> None:
    assert NOT_REFUSED <= {str(shape) for shape in SHAPES}
    *_, total = table().splitlines()
    counts = [int(cell) for cell in total.split("|")[3:7]]
    assert sum(counts) == len(SHAPES) and counts[3] == 0
