"""For random edits of recorded answers: what an SDK takes for a call was judged, or is not there.

`TASKSHIELD_EXAMPLES=3000` tries as many for each wire format.
"""

from random import Random
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskshield.adapters.proxy.sse import Splitter
from taskshield.core.errors import WireFormatError
from tests.engine.sessions import run
from tests.server.proxy.odd_answers.edits import edited, recorded
from tests.server.proxy.odd_answers.examples import EXAMPLES
from tests.server.proxy.odd_answers.played import FORMATS, MARK, acted_on, played

FORMAT = pytest.mark.parametrize("name", FORMATS)
SHORT_WAYS = {
    "chat": "taskshield.adapters.proxy.openai_chat.stream.is_text",
    "anthropic": "taskshield.adapters.proxy.anthropic.stream._is_text",
    "responses": "taskshield.adapters.proxy.openai_responses.stream._is_text",
}
STREAMS = pytest.mark.parametrize("streams", [False, True], ids=["complete", "stream"])


@FORMAT
@STREAMS
def test_a_recorded_answer_is_judged_as_its_sdk_reads_it(name: str, streams: bool) -> None:
    data = recorded(name, streams=streams)
    found = run(played(name, [data], streams=streams))
    calls = acted_on(name, data, streams=streams)
    assert found.error is None and calls == found.judged
    assert acted_on(name, found.data, streams=streams) == {("read_file", '{"path": "bill.txt"}')}


@FORMAT
@STREAMS
@settings(max_examples=EXAMPLES)
@given(random=st.randoms(use_true_random=False))
def test_no_edit_hides_a_call(name: str, streams: bool, random: Random) -> None:
    chunks = edited(name, random, streams=streams)
    found = run(played(name, chunks, streams=streams))
    assert found.clean, found.error
    acted = acted_on(name, found.data, streams=streams)
    assert all(found.has_judged(call) for call in acted)
    assert not any(MARK in part for call in acted for part in call)


def gated(name: str, chunks: list[bytes]) -> list[object]:
    """What a gate passes on of a stream at once, what it reads of it, or its error."""
    gate, splitter = FORMATS[name].gate(), Splitter()
    told: list[object] = []
    try:
        for chunk in chunks:
            told += [data for event in splitter.feed(chunk) for data in gate.feed(event)]
        gate.close()
    except WireFormatError as error:
        told.append(str(error))
    return [*told, gate.response, gate.complete]


@FORMAT
@settings(max_examples=EXAMPLES)
@given(random=st.randoms(use_true_random=False))
def test_the_short_way_for_pieces_of_text_changes_nothing(name: str, random: Random) -> None:
    chunks = edited(name, random, streams=True)
    with patch(SHORT_WAYS[name], return_value=False):
        expected = gated(name, chunks)
    assert gated(name, chunks) == expected
